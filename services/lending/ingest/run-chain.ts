import { workInAgreement } from "../../shared/chain/evm/agreement.ts";
import { OtherChain } from "../../shared/chain/evm/genesis.ts";
import type { Log } from "../../shared/host/log.ts";
import { createProgress } from "../../shared/host/progress.ts";
import { retryUntil } from "../../shared/host/run-ingest.ts";
import type { SyncDeps } from "./load.ts";
import { ChainSync } from "./sync.ts";

export interface RunChainOptions extends Omit<SyncDeps, "log" | "report"> {
  readonly log: Log;
}

/**
 * Indexes one chain until the signal. Any failure (no RPC endpoint answers, the store is down) is logged and tried
 * again from the checkpoint; only a store of another chain ends it. While every endpoint contradicts what is final, it
 * waits.
 */
export async function runChain(options: RunChainOptions): Promise<void> {
  const { log, chain, source, signal } = options;
  const isFatal = (error: unknown) => error instanceof OtherChain;
  const indexOnce = async () => {
    const report = createProgress((line) => log.info(line), {
      chain: `${chain.name} lending`,
      finds: "units",
      now: () => performance.now(),
    });
    const sync = await ChainSync.open({
      ...options,
      report,
      log: (level, message, fields) => log[level](fields ?? {}, message),
    });
    const head = await source.head();
    log.info({ block: sync.checkpoint?.blockNumber ?? null, head: head.number }, "indexing");
    await sync.run();
  };
  await retryUntil(signal, { log, isFatal }, () => workInAgreement({ source, log, signal }, indexOnce));
}
