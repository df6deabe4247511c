import { MULTICALL3 } from "../../shared/evm/multicall/multicall.ts";
import type { EvmSource } from "../../shared/evm/port.ts";
import type { SyncLog } from "../../shared/index/follow-head.ts";
import type { Guard } from "../../shared/storage/lease.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";
import type { CheckpointRow } from "../store/collections.ts";
import type { IngestPipeline } from "./apply.ts";
import { PoolRowReader } from "./discover/pool-row-reader.ts";
import { UnknownPools } from "./discover/unknown-pools.ts";
import { FeedContracts } from "./feeds/feed-contracts.ts";
import { Fetcher } from "./fetch/fetcher.ts";
import { loadWatchedPools, rewatch } from "./fetch/watched-pools.ts";
import { BlockStates } from "./reads/block-states.ts";
import type { Detail } from "./state/detail.ts";
import { FactoryFeeBook } from "./state/factory-fee-book.ts";
import { FeeBook } from "./state/fee-book.ts";
import { loadIndexer } from "./state/load-indexer.ts";
import { ObservationBook } from "./state/observation-book.ts";
import { healIndexer, type Undone } from "./undo/heal.ts";

export interface PipelineDeps {
  readonly store: Store;
  readonly source: EvmSource;
  readonly chain: ChainDeployments;
  readonly guard: Guard;
  readonly log: SyncLog;
  /** Contracts that one eth_getLogs may name. */
  readonly maxAddresses?: number | undefined;
  /** What is written of events and buckets; default all. */
  readonly detail?: Detail;
}

/** Opens the pipeline that writes batches from the checkpoint on; reopened after a rollback. */
export async function openPipeline(deps: PipelineDeps, checkpoint: CheckpointRow): Promise<IngestPipeline> {
  const { store, source, chain, guard, detail } = deps;
  const tokens = { chainId: chain.chainId, anchors: chain.stablecoins };
  const indexer = await loadIndexer(store, tokens, detail);
  return {
    store,
    source,
    guard,
    indexer,
    feeBook: await FeeBook.load(store, chain.chainId),
    factoryFeeBook: await FactoryFeeBook.load(store, chain),
    observationBook: new ObservationBook(store, chain.chainId),
    unknownPools: new UnknownPools(source, { factories: chain.factories, fromBlock: checkpoint.fromBlock }),
    watchedPools: await loadWatchedPools(store, { source, pools: indexer.pools, checkpoint }),
    poolRows: new PoolRowReader(store, source),
    states: new BlockStates({ source, address: MULTICALL3 }),
    feedContracts: await openFeeds(deps),
  };
}

/**
 * Brings a pipeline back to the checkpoint that its store was rolled back to, without loading all pools again. The
 * pipeline must have written all it has, and the checkpoint must be of an indexed block.
 */
export async function healPipeline(
  deps: PipelineDeps,
  pipeline: IngestPipeline,
  { checkpoint, undone }: { checkpoint: CheckpointRow; undone: Undone },
): Promise<IngestPipeline> {
  const { store, source, chain } = deps;
  const { indexer, feeBook, factoryFeeBook, watchedPools } = pipeline;
  const target = checkpoint.blockNumber;
  await healIndexer(store, { indexer, anchors: chain.stablecoins, target, undone });
  feeBook.rollback(target);
  factoryFeeBook.rollback(target);
  pipeline.observationBook.clear();
  await rewatch(watchedPools, { source, pools: indexer.pools, checkpoint, ...undone });
  return {
    ...pipeline,
    unknownPools: new UnknownPools(source, { factories: chain.factories, fromBlock: checkpoint.fromBlock }),
    poolRows: new PoolRowReader(store, source),
  };
}

/** The contracts of the chain's feeds as they are at the head. */
async function openFeeds({ source, chain, log }: PipelineDeps): Promise<FeedContracts> {
  const contracts = new FeedContracts(chain.feeds);
  if (contracts.isEmpty) return contracts;
  for (const { token, proxy } of await contracts.load(source, (await source.head()).number))
    log("warn", `There is no USD feed at ${proxy}: other stablecoins value ${token}.`, { token, proxy });
  return contracts;
}

/** Creates the fetcher that reads batches for a pipeline. */
export function createFetcher(deps: PipelineDeps, pipeline: IngestPipeline): Fetcher {
  const { pools, gauges } = pipeline.indexer;
  return new Fetcher(deps.source, {
    factories: deps.chain.factories,
    known: {
      protocolOf: (pool) => pools.protocolOf(pool),
      poolOfGauge: (gauge) => gauges.poolOf(gauge),
      isForeign: (address) => pipeline.unknownPools.isForeign(address),
    },
    watchedPools: pipeline.watchedPools,
    feeds: pipeline.feedContracts,
    maxAddresses: deps.maxAddresses,
    foresee: (created) => pipeline.poolRows.foresee(created),
  });
}
