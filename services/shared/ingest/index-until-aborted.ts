import type { SyncLog } from "../index/follow-head.ts";
import { StallMonitor } from "../index/stall-monitor.ts";
import type { ProgressReport } from "../ingest-status/progress.ts";
import type { Log } from "../logging/log.ts";
import type { IngestReporter } from "./reporter.ts";
import { retryUntilAborted } from "./run-ingest.ts";

export interface IndexingOptions {
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Shows the progress; absent in tests. */
  readonly reporter?: Pick<IngestReporter, "report" | "reportFailure"> | undefined;
  /** Errors after which the index would be wrong if it went on: they are thrown. */
  readonly isFatal?: (error: unknown) => boolean;
  /** See StallOptions. */
  readonly stallRetryMs?: number | undefined;
}

/** What one attempt works with. */
export interface IndexAttempt {
  readonly stalls: StallMonitor;
  readonly report: ProgressReport;
  readonly log: SyncLog;
}

/**
 * Indexes a chain until the signal. A failure (no endpoint answers, the store is down) is logged, and the next attempt
 * goes on from the checkpoint. While every endpoint contradicts what is final in the index, it waits.
 */
export async function indexUntilAborted(
  { log, signal, reporter, isFatal = () => false, stallRetryMs }: IndexingOptions,
  attempt: (context: IndexAttempt) => Promise<void>,
): Promise<void> {
  const onFailure = (error: unknown) => reporter?.reportFailure(error);
  const stalls = new StallMonitor({ log, signal, onFailure, retryMs: stallRetryMs });
  const context: IndexAttempt = {
    stalls,
    report: reporter?.report ?? (() => {}),
    log: (level, message, fields) => log[level](fields ?? {}, message),
  };
  await retryUntilAborted(signal, { log, isFatal, onFailure }, () => stalls.run(() => attempt(context)));
}
