import type { EvmSource } from "../../shared/evm/port.ts";
import type { Guard } from "../../shared/storage/lease.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";
import type { CheckpointRow } from "../store/collections.ts";
import type { Workbench } from "./apply.ts";
import { Fetcher } from "./fetch.ts";
import { loadIndexer } from "./load.ts";
import { loadWatch } from "./lp-watch.ts";
import { FeeBook } from "./state/fee-book.ts";
import { Strangers } from "./strangers.ts";
import { TokenReader } from "./tokens.ts";

export interface BenchDeps {
  readonly store: Store;
  readonly source: EvmSource;
  readonly chain: ChainDeployments;
  readonly guard: Guard;
  /** Contracts that one eth_getLogs may name. */
  readonly maxAddresses?: number | undefined;
}

/** What writes chunks, as of the checkpoint: made anew after a rollback. */
export async function openBench(deps: BenchDeps, checkpoint: CheckpointRow): Promise<Workbench> {
  const { store, source, chain, guard } = deps;
  const indexer = await loadIndexer(store, { chainId: chain.chainId, anchors: chain.stablecoins });
  return {
    store,
    source,
    guard,
    indexer,
    fees: await FeeBook.load(store, chain.chainId),
    strangers: new Strangers(source, { factories: chain.factories, fromBlock: checkpoint.fromBlock }),
    watch: await loadWatch(store, { source, pools: indexer.pools, checkpoint }),
    tokens: new TokenReader(store, source),
  };
}

/** What reads chunks for it. */
export function fetcherFor(deps: BenchDeps, bench: Workbench): Fetcher {
  const { pools, gauges } = bench.indexer;
  return new Fetcher(deps.source, {
    factories: deps.chain.factories,
    known: {
      protocolOf: (pool) => pools.protocolOf(pool),
      poolOfGauge: (gauge) => gauges.poolOf(gauge),
      isForeign: (address) => bench.strangers.isForeign(address),
    },
    watch: bench.watch,
    maxAddresses: deps.maxAddresses,
  });
}
