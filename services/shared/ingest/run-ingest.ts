import { hostname } from "node:os";
import type { Log } from "../logging/log.ts";
import { pause, within } from "../process/pause.ts";
import type { Stoppable } from "../process/process.ts";
import { isStoreAway } from "../storage/away.ts";
import { isDamaged } from "../storage/damage.ts";
import { acquireLease, type Guard, type LeaseOptions } from "../storage/lease.ts";
import type { Store } from "../storage/port.ts";

/** Context of work that one process at a time may do. */
export interface Leadership {
  /** Aborted when the lease is lost, or the process stops. */
  readonly signal: AbortSignal;
  readonly guard: Guard;
}

export interface LeadershipOptions {
  readonly store: Store;
  readonly name: string;
  readonly ttlMs: number;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called with the lease's token when this process begins to lead, and without it when it no longer does. */
  readonly onChange?: (token: number | undefined) => void;
}

/**
 * Waits for the lease, works while it is held, and waits again when it is lost. A store that cannot be reached is waited
 * for: leader and standby outlive it. Throws errors of the work, and of a store that is damaged.
 */
export async function runAsLeader(
  options: LeadershipOptions,
  work: (lead: Leadership) => Promise<void>,
): Promise<void> {
  const { store, name, ttlMs, log, signal, onChange = () => {} } = options;
  onChange(undefined);
  while (!signal.aborted) {
    const holder = `${hostname()}-${process.pid}-${crypto.randomUUID()}`;
    const lease = await acquireLease(store, { name, holder, ttlMs, signal, ...reactionsOf(options) });
    if (lease === undefined) return;
    log.info({ lease: name, holder, token: lease.token }, "holding the lease");
    onChange(lease.token);
    let failure: { readonly error: unknown } | undefined;
    try {
      await work({ signal: AbortSignal.any([signal, lease.lost]), guard: () => [lease.guard()] });
    } catch (error) {
      failure = { error };
    }
    const { lost } = lease;
    const wasLost = lost.aborted;
    await lease.release();
    onChange(undefined);
    if (wasLost && !signal.aborted)
      log.warn({ lease: name, token: lease.token, err: lost.reason }, "the lease is lost; waiting for it");
    else if (failure !== undefined && !signal.aborted) {
      if (!isStoreAway(failure.error)) throw failure.error;
      log.warn({ lease: name, err: failure.error }, "the store cannot be reached; waiting for the lease");
      await pause(AWAY_PAUSE_MS, signal);
    }
  }
}

/** Before a store that was away is asked again. */
const AWAY_PAUSE_MS = 500;

/** What a waiting process says: who leads, and once for each outage that the store cannot be asked. */
function reactionsOf({ name, log }: LeadershipOptions): Pick<LeaseOptions, "onWait" | "onFailure"> {
  let isFailing = false;
  return {
    onWait: (holder) => {
      isFailing = false;
      log.info({ lease: name, holder }, "another process leads; waiting for its lease");
    },
    onFailure: (err) => {
      if (isDamaged(err)) throw err;
      if (!isFailing) log.warn({ lease: name, err }, "the lease cannot be read; trying again");
      isFailing = true;
    },
  };
}

const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 15_000;

/**
 * Works until the signal. Any failure (no RPC endpoint, no store) is logged and retried after a pause that grows while it
 * keeps failing; throws only a fatal error, or one after the signal.
 */
export async function retryUntilAborted(
  signal: AbortSignal,
  options: {
    log: Log;
    isFatal: (error: unknown) => boolean;
    onFailure?: ((error: unknown) => void) | undefined;
  },
  work: () => Promise<void>,
): Promise<void> {
  const { log, isFatal, onFailure } = options;
  let retryMs = MIN_RETRY_MS;
  let lastWarning: string | undefined;
  while (!signal.aborted) {
    const startedMs = performance.now();
    try {
      await work();
    } catch (err) {
      // A damaged file stays so: the end of the process is seen, retries for ever are not.
      if (signal.aborted || isFatal(err) || isDamaged(err)) throw err;
      if (performance.now() - startedMs > MAX_RETRY_MS) retryMs = MIN_RETRY_MS;
      onFailure?.(err);
      // The same failure for hours is one warning: the ingest's status shows that it lasts.
      const level = lastWarning === String(err) ? "info" : "warn";
      lastWarning = String(err);
      log[level]({ err, retryMs }, "indexing was interrupted; it restarts from the checkpoint");
      await pause(retryMs, signal);
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
    }
  }
}

const IDLE_MS = 3_600_000;
/** Together these stay below the wait that a user accepts after Ctrl-C. */
const RUNS_STOP_MS = 1_200;
const CLOSE_MS = 500;

/**
 * The source, closed at the signal: pending requests fail at once instead of waiting for and retrying RPC endpoints for
 * minutes.
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
 * An ingest's process: its runs in parallel (one for each chain, or none) until it is stopped. A run ends by itself only on
 * a fatal error: then the process must not look alive, and exits.
 */
export function runIngest(options: {
  log: Log;
  runs: readonly ((signal: AbortSignal) => Promise<void>)[];
  onStop: () => Promise<void>;
}): Stoppable {
  const { log, onStop } = options;
  const stopping = new AbortController();
  const runs = Promise.all([stayAlive(stopping.signal), ...options.runs.map((run) => run(stopping.signal))]);
  runs.catch((err) => {
    if (stopping.signal.aborted) return;
    log.fatal({ err }, "indexing cannot continue");
    process.exit(1);
  });
  return {
    async stop() {
      stopping.abort();
      // Hanging work (a write to a store that is down) is abandoned: the next start continues from the checkpoint.
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

/** Keeps the process alive. */
async function stayAlive(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await pause(IDLE_MS, signal);
}
