import { OtherChain } from "../../shared/evm/finality/genesis.ts";
import { indexUntilAborted } from "../../shared/ingest/index-until-aborted.ts";
import type { IngestReporter } from "../../shared/ingest/reporter.ts";
import type { Log } from "../../shared/logging/log.ts";
import type { SyncDeps } from "./load.ts";
import { ChainSync } from "./sync.ts";

export interface RunChainOptions extends Omit<SyncDeps, "log" | "report"> {
  readonly log: Log;
  /** Shows the progress; absent in tests. */
  readonly reporter?: Pick<IngestReporter, "report" | "reportFailure">;
}

/** Indexes one chain until the signal, as indexUntilAborted. Throws OtherChain where the store is of another chain. */
export async function runChain(options: RunChainOptions): Promise<void> {
  const { source, metrics } = options;
  const isFatal = (error: unknown) => error instanceof OtherChain;
  await indexUntilAborted({ ...options, isFatal }, async ({ stalls, report, log }) => {
    if (stalls.isStalled) await stalls.waitUntil(() => source.recheck());
    const sync = await ChainSync.open({ ...options, report, log });
    const head = await source.head();
    stalls.resolve();
    metrics?.setHead(head);
    const { checkpoint } = sync;
    if (checkpoint !== undefined)
      metrics?.setIndexedBlock({ number: checkpoint.blockNumber, time: checkpoint.blockTime });
    log("info", "indexing", { block: checkpoint?.blockNumber ?? null, head: head.number });
    await sync.run();
  });
}
