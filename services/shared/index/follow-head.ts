import { ReorgDetected } from "../chain-errors.ts";
import type { ProgressReport } from "../ingest-status/progress.ts";
import type { Guard } from "../storage/lease.ts";
import type { Store } from "../storage/port.ts";

/** How long a head without a wake-up call goes unnoticed. */
const POLL_MS = 300;

export type SyncLog = (level: "info" | "warn", message: string, fields?: Record<string, unknown>) => void;

/** What every sync of an index with its chain needs. */
export interface SyncContext {
  readonly store: Store;
  readonly signal: AbortSignal;
  readonly log: SyncLog;
  readonly report: ProgressReport;
  readonly guard: Guard;
}

export interface FollowHooks extends Pick<SyncContext, "signal" | "log"> {
  readonly source: { waitForHead(timeoutMs: number, signal: AbortSignal): Promise<void> };
  /** Fetches and applies what is next; returns whether there was anything to do. Throws ReorgDetected. */
  readonly step: () => Promise<boolean>;
  /** Goes back to the last block that index and chain have in common. Absent = `step` does so itself. */
  readonly handleReorg?: () => Promise<void>;
  /** A new object after each write. */
  readonly checkpoint: () => object | undefined;
}

/** Keeps an index at the head of its chain until the signal. Throws every error but ReorgDetected. */
export async function followHead({ source, signal, log, ...hooks }: FollowHooks): Promise<void> {
  let logged: { readonly message: string; readonly checkpoint: object | undefined } | undefined;
  // One warning for the same message, until something is written again.
  const warnOnce = (error: unknown): void => {
    if (!(error instanceof ReorgDetected)) throw error;
    const { message } = error;
    const checkpoint = hooks.checkpoint();
    if (message !== logged?.message || checkpoint !== logged.checkpoint) log("warn", message);
    logged = { message, checkpoint };
  };
  while (!signal.aborted) {
    try {
      if (!(await hooks.step())) await source.waitForHead(POLL_MS, signal);
    } catch (error) {
      warnOnce(error);
      await hooks.handleReorg?.().catch(warnOnce);
      // A node in the middle of a reorg needs time.
      await source.waitForHead(POLL_MS, signal);
    }
  }
}
