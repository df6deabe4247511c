import type { EvmSource } from "../../shared/evm/port.ts";
import type { Guard } from "../../shared/storage/lease.ts";
import type { BulkWriter, Store } from "../../shared/storage/port.ts";
import { protocolOf } from "../protocols/index.ts";
import type { CheckpointRow } from "../store/collections.ts";
import type { PoolRowReader } from "./discover/pool-row-reader.ts";
import type { UnknownPools } from "./discover/unknown-pools.ts";
import type { FeedContracts } from "./feeds/feed-contracts.ts";
import type { BlockBatch } from "./fetch/block-batch.ts";
import type { WatchedPools } from "./fetch/watched-pools.ts";
import { anchorPositions } from "./reads/anchor-positions.ts";
import { readAnchors } from "./reads/anchors.ts";
import { observeBalances } from "./reads/balances.ts";
import type { BlockStates } from "./reads/block-states.ts";
import type { NewHead } from "./snapshots/snapshot-writer.ts";
import type { FactoryFeeBook } from "./state/factory-fee-book.ts";
import type { FeeBook } from "./state/fee-book.ts";
import type { Indexer } from "./state/indexer.ts";
import type { ObservationBook } from "./state/observation-book.ts";
import { startWrite } from "./write.ts";

/** All that turns batches into stored rows; rebuilt after a rollback. */
export interface IngestPipeline {
  readonly store: Store;
  readonly source: EvmSource;
  readonly indexer: Indexer;
  readonly feeBook: FeeBook;
  readonly factoryFeeBook: FactoryFeeBook;
  readonly observationBook: ObservationBook;
  readonly unknownPools: UnknownPools;
  /** Shared with the fetchers, which run ahead: all of them see pools that get LP tokens. */
  readonly watchedPools: WatchedPools;
  /** Told by the fetchers of the pools that it will be asked for. */
  readonly poolRows: PoolRowReader;
  readonly states: BlockStates;
  readonly feedContracts: FeedContracts;
  readonly guard: Guard;
}

interface AddOptions {
  readonly batch: BlockBatch;
  readonly checkpoint: CheckpointRow;
  readonly chainHead: number;
}

interface WriteOptions {
  /** The last batch that was added. Headers and states are of its blocks. */
  readonly batch: BlockBatch;
  /** The one before the added batches. */
  readonly checkpoint: CheckpointRow;
  readonly chainHead: number;
  /**
   * Whether balances and fees are read: only with the batch that reaches the head, since no response uses the state
   * before it. That batch also reads what earlier ones left unread.
   */
  readonly observe: boolean;
}

/** A batch has events of pools that were unknown when it was fetched: fetch it again. */
export class NewPoolsFound extends Error {
  override readonly name = "NewPoolsFound";
}

/**
 * Reads all that adding a batch to the pipeline's indexer needs. Where it throws, as NewPoolsFound, what was added before
 * can still be written.
 */
export async function prepareBatch(pipeline: IngestPipeline, options: AddOptions): Promise<void> {
  const { indexer, source } = pipeline;
  const { batch, checkpoint, chainHead } = options;
  await identifyUnknownPools(pipeline, options);
  // What does not change is read at the head, whose state every node has.
  const described = await pipeline.poolRows.read(batch.created, { block: chainHead });
  for (const token of described.tokens) indexer.addToken(token);
  for (const pool of described.pools) indexer.addPool(pool);
  for (const { gauge, voter, pool, block } of batch.gauges) {
    indexer.addGauge({ chainId: source.chainId, gauge, poolAddress: pool, voter, createdBlock: block });
  }
  await anchorPools(pipeline, options);
  await indexer.prepare(batch.blocks);
  await anchorPositions(source, { indexer, batch, fromBlock: checkpoint.fromBlock });
}

/** What was added and is being written: the checkpoint, and the pools that had events. */
interface StartedWrite extends NewHead {
  readonly written: Promise<void>;
  /** To be called once it is written, before the next one begins. */
  readonly settle: () => void;
}

/** Writes what was added since the checkpoint; returns the one it wrote and the pools that had events. */
export async function writeAdded(pipeline: IngestPipeline, options: WriteOptions): Promise<NewHead> {
  const { written, settle, ...head } = await startWriteAdded(pipeline, options, pipeline.store);
  await written;
  settle();
  return head;
}

/**
 * Begins to write what was added since the checkpoint. Meanwhile more may be added: what that reads is either in memory, if
 * the write has changed it, or stored.
 */
export async function startWriteAdded(
  pipeline: IngestPipeline,
  { batch, checkpoint, chainHead, observe }: WriteOptions,
  writer: Pick<BulkWriter, "write">,
): Promise<StartedWrite> {
  const { indexer } = pipeline;
  const flushed = indexer.flush();
  const head = batch.last.number;
  const hashes = new Map([...batch.blocks, batch.last].map(({ number, hash }) => [number, hash]));
  const hashOf = (block: number) => hashes.get(block);
  const states = pipeline.states.at({ head, hashOf });
  // Together, so that one eth_call reads all of a block's state.
  const [fees, factoryFees] = observe
    ? await Promise.all([
        pipeline.feeBook.refresh(states, { pools: indexer.pools, head, fromBlock: checkpoint.fromBlock }),
        pipeline.factoryFeeBook.refresh(states, { head }),
        observeBalances(states, { pools: flushed.touched, head, hashOf }),
      ])
    : [[], []];
  const observations = observe
    ? await pipeline.observationBook.changesOf({ pools: flushed.touched, fees, factoryFees })
    : [];
  const next: CheckpointRow = {
    ...checkpoint,
    blockNumber: batch.last.number,
    blockHash: batch.last.hash,
    blockTime: batch.last.time,
    chainHead: Math.max(chainHead, batch.last.number),
  };
  const traded = flushed.touched.filter((entry) => entry.lastBlock > checkpoint.blockNumber);
  const written = startWrite(writer, {
    indexer,
    flushed,
    guard: pipeline.guard,
    progress: { checkpoint: next, fees, factoryFees, observations, headers: batch.headers },
  });
  return {
    checkpoint: next,
    touched: traded.map((entry) => entry.row),
    written,
    settle() {
      indexer.settle(flushed);
      pipeline.observationBook.settle(observations);
    },
  };
}

/**
 * Adds pools of known factories whose creation no node reported; they are written with their first events. Throws
 * NewPoolsFound where there are any.
 */
async function identifyUnknownPools(
  pipeline: IngestPipeline,
  { batch, chainHead }: AddOptions,
): Promise<void> {
  const { indexer, source, watchedPools } = pipeline;
  const { chainId } = source;
  const identified = await pipeline.unknownPools.identify(batch.unknownPools);
  if (identified.length === 0) return;
  const created = identified.map(({ pool }) => pool);
  const described = await pipeline.poolRows.read(created, { block: chainHead });
  for (const token of described.tokens) indexer.addToken(token);
  for (const pool of described.pools) {
    indexer.addPool(pool);
    if (protocolOf(pool.protocol).lpTokens !== undefined) watchedPools.add(pool.poolAddress);
  }
  for (const { pool, gauge } of identified) {
    if (gauge !== undefined) indexer.addGauge({ chainId, poolAddress: pool.pool, ...gauge });
  }
  throw new NewPoolsFound(`No node reported the creation of ${created.map(({ pool }) => pool).join(", ")}.`);
}

/** Pools older than the index start from their state on the chain just before their first indexed event. */
async function anchorPools(
  pipeline: IngestPipeline,
  { batch, checkpoint, chainHead }: AddOptions,
): Promise<void> {
  const { indexer, source } = pipeline;
  const firstBlock = new Map<string, number>();
  for (const block of batch.blocks) {
    for (const { poolAddress } of block.events) {
      if (!firstBlock.has(poolAddress)) firstBlock.set(poolAddress, block.number);
    }
  }
  await indexer.pools.prepare(firstBlock.keys());
  const older = [...firstBlock].flatMap(([pool, block]) => {
    const entry = indexer.pools.get(pool);
    const isOld = entry?.anchor === undefined && (entry?.row.createdBlock ?? block) < checkpoint.fromBlock;
    return entry !== undefined && isOld ? [{ entry, block, gauge: indexer.gauges.at(pool, block - 1) }] : [];
  });
  await readAnchors(source, { pools: older, head: chainHead });
  for (const { entry } of older) indexer.prices.anchor(entry);
}
