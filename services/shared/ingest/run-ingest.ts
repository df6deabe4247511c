import type { Log } from "../logging/log.ts";
import { pause, within } from "../process/pause.ts";
import type { Stoppable } from "../process/process.ts";
import { acquireLease, type Guard } from "../storage/lease.ts";
import type { Store } from "../storage/port.ts";

/** What work gets that is done by one process at a time. */
export interface Leadership {
  /** Aborted when the lease is lost, or the process stops. */
  readonly signal: AbortSignal;
  readonly guard: Guard;
}

/** Waits for the lease, works while it holds, and waits again when it is lost. Throws what the work throws. */
export async function runAsLeader(
  of: { store: Store; name: string; ttlMs: number; log: Log; signal: AbortSignal },
  work: (lead: Leadership) => Promise<void>,
): Promise<void> {
  const { store, name, ttlMs, log, signal } = of;
  while (!signal.aborted) {
    const holder = `${process.pid}-${crypto.randomUUID()}`;
    const lease = await acquireLease(store, { name, holder, ttlMs, signal });
    if (lease === undefined) return;
    log.info({ token: lease.token }, "holding the lease");
    try {
      await work({ signal: AbortSignal.any([signal, lease.lost]), guard: () => [lease.guard()] });
    } catch (error) {
      if (!lease.lost.aborted && !signal.aborted) throw error;
    } finally {
      await lease.release();
    }
  }
}

const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 15_000;

/**
 * Works until the signal. Any failure (no RPC endpoint answers, the store is down) is logged and tried again after a
 * pause that grows while it keeps failing; only a fatal one, and one after the signal, is thrown.
 */
export async function retryUntilAborted(
  signal: AbortSignal,
  of: { log: Log; isFatal: (error: unknown) => boolean; onFailure?: ((error: unknown) => void) | undefined },
  work: () => Promise<void>,
): Promise<void> {
  const { log, isFatal, onFailure } = of;
  let retryMs = MIN_RETRY_MS;
  let told: string | undefined;
  while (!signal.aborted) {
    const startedMs = performance.now();
    try {
      await work();
    } catch (err) {
      if (signal.aborted || isFatal(err)) throw err;
      if (performance.now() - startedMs > MAX_RETRY_MS) retryMs = MIN_RETRY_MS;
      onFailure?.(err);
      // What fails the same way for hours is one warning: the ingest's status says that it lasts.
      const level = told === String(err) ? "info" : "warn";
      told = String(err);
      log[level]({ err, retryMs }, "indexing was interrupted; it is tried again from the checkpoint");
      await pause(retryMs, signal);
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
    }
  }
}

const IDLE_MS = 3_600_000;
/** Together they stay below what a person waits after a Ctrl-C. */
const RUNS_STOP_MS = 1_200;
const CLOSE_MS = 500;

/**
 * The source, closed at the signal: its pending questions fail at once, where RPC endpoints would be waited for and asked
 * again for minutes.
 */
export function closeOnAbort<S extends { close(): Promise<void> }>(signal: AbortSignal, source: S): S {
  const closeNow = () => void source.close().catch(() => {});
  signal.addEventListener("abort", closeNow, { once: true });
  if (signal.aborted) closeNow();
  return {
    ...source,
    close() {
      signal.removeEventListener("abort", closeNow);
      return source.close();
    },
  };
}

/**
 * An ingest's process: its runs side by side (one for each chain, or none) until it is stopped. A run ends by itself
 * only when going on would be wrong: then the process must not look alive, and ends.
 */
export function runIngest(of: {
  log: Log;
  runs: readonly ((signal: AbortSignal) => Promise<void>)[];
  onStop: () => Promise<void>;
}): Stoppable {
  const { log, onStop } = of;
  const stopping = new AbortController();
  const runs = Promise.all([idle(stopping.signal), ...of.runs.map((run) => run(stopping.signal))]);
  runs.catch((err) => {
    if (stopping.signal.aborted) return;
    log.fatal({ err }, "indexing cannot go on");
    process.exit(1);
  });
  return {
    async stop() {
      stopping.abort();
      // What hangs (a store that is away, a write to it) is left: the next start goes on from the checkpoint.
      await within(
        RUNS_STOP_MS,
        runs.catch(() => {}),
      );
      await within(
        CLOSE_MS,
        onStop().catch((err) => log.warn({ err }, "the ingest could not close everything")),
      );
    },
  };
}

/** Keeps the process, whatever else does. */
async function idle(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await pause(IDLE_MS, signal);
}
