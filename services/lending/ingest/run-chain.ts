import { workInAgreement } from "../../shared/evm/finality/agreement.ts";
import { OtherChain } from "../../shared/evm/finality/genesis.ts";
import type { IngestReporter } from "../../shared/ingest/reporter.ts";
import { retryUntilAborted } from "../../shared/ingest/run-ingest.ts";
import type { Log } from "../../shared/logging/log.ts";
import type { SyncDeps } from "./load.ts";
import { ChainSync } from "./sync.ts";

export interface RunChainOptions extends Omit<SyncDeps, "log" | "report"> {
  readonly log: Log;
  /** Says what is done; absent in tests. */
  readonly reporter?: Pick<IngestReporter, "report" | "reportFailure">;
}

/**
 * Indexes one chain until the signal. Any failure (no RPC endpoint answers, the store is down) is logged and tried
 * again from the checkpoint; only a store of another chain ends it. While every endpoint contradicts what is final, it
 * waits.
 */
export async function runChain(options: RunChainOptions): Promise<void> {
  const { log, source, signal, reporter, metrics } = options;
  const isFatal = (error: unknown) => error instanceof OtherChain;
  const onFailure = (error: unknown) => reporter?.reportFailure(error);
  const indexOnce = async () => {
    const report = reporter?.report ?? (() => {});
    const sync = await ChainSync.open({
      ...options,
      report,
      log: (level, message, fields) => log[level](fields ?? {}, message),
    });
    const head = await source.head();
    metrics?.setHead(head);
    const stored = sync.checkpoint;
    if (stored !== undefined)
      metrics?.setIndexedBlock({ number: stored.blockNumber, time: stored.blockTime });
    log.info({ block: sync.checkpoint?.blockNumber ?? null, head: head.number }, "indexing");
    await sync.run();
  };
  await retryUntilAborted(signal, { log, isFatal, onFailure }, () =>
    workInAgreement({ source, log, signal, onFailure }, indexOnce),
  );
}
