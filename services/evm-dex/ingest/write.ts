import { KEPT_HEADERS } from "../../shared/evm/finality/fork.ts";
import { type HeaderRow, headers } from "../../shared/index/evm/headers.ts";
import { type Guard, guardedPut } from "../../shared/storage/lease.ts";
import { type BulkWriter, inParallel, put, removeWhere, type WriteStep } from "../../shared/storage/port.ts";
import { compareTexts } from "../../shared/storage/row-list.ts";
import {
  type CheckpointRow,
  checkpoints,
  type FeedAnswerRow,
  feedAnswers,
  type PoolFeeRow,
  poolEvents,
  poolFees,
  poolListings,
  poolStates,
  pools,
  poolUsers,
  priceLinks,
  rollups,
  tokens,
} from "../store/collections.ts";
import { type ObservationRow, observations } from "../store/observations.ts";
import { toAnchorRows } from "../store/price-links.ts";
import {
  type FactoryFeeRow,
  factoryFees,
  gauges,
  lpEvents,
  lpPositions,
  v2LargeSwaps,
  v2Rollups,
} from "../store/v2-collections.ts";
import { toListings } from "../views/pool-listing.ts";
import type { FeedAnswer } from "./feeds/feed-contracts.ts";
import type { FlushedRows, Indexer } from "./state/indexer.ts";

interface Progress {
  readonly checkpoint: CheckpointRow;
  /** Fees read at the checkpoint or before. */
  readonly fees: readonly PoolFeeRow[];
  readonly factoryFees: readonly FactoryFeeRow[];
  /** What of it and of balances has changed. */
  readonly observations?: readonly ObservationRow[];
  /** Headers up to the checkpoint; empty during backfill, far behind the head. */
  readonly headers: readonly HeaderRow[];
}

interface ProgressWrite {
  readonly indexer: Indexer;
  readonly flushed: FlushedRows;
  readonly progress: Progress;
  readonly guard: Guard;
}

/** Writes the indexer's rows; nothing is under way afterwards. See startWrite. */
export async function writeProgress(writer: Pick<BulkWriter, "write">, write: ProgressWrite): Promise<void> {
  await startWrite(writer, write);
  write.indexer.settle(write.flushed);
}

/**
 * Begins to write the indexer's rows: events first, then the rows derived from them, the checkpoint last. One transaction on
 * SQLite; on MongoDB an interrupted write is undone from the rows beyond the checkpoint. Rows are taken as they are now: more
 * may be added meanwhile, but not flushed. Swaps are counted first. `indexer.settle` follows once it is written.
 */
export async function startWrite(
  writer: Pick<BulkWriter, "write">,
  { indexer, flushed, progress, guard }: ProgressWrite,
): Promise<void> {
  const { chainId, blockNumber } = progress.checkpoint;
  const states = indexer.takeStates(flushed);
  const v2 = indexer.v2.flush();
  const lp = indexer.positions.flush();
  const oldHeaders =
    progress.headers.length === 0
      ? []
      : [removeWhere(headers, { chainId, number: { lte: blockNumber - KEPT_HEADERS } })];
  const { rollups: rollupRows, users } = await indexer.count(flushed);
  await writer.write([
    ...guard(),
    // In this order, and before their events: without its row a pool's events cannot be undone.
    put(tokens, flushed.tokens),
    put(pools, flushed.pools),
    put(poolListings, toListings(flushed.pools)),
    ...inParallel(
      put(poolEvents, flushed.events),
      put(lpEvents, lp.events),
      put(gauges, flushed.gauges),
      put(priceLinks, flushed.links),
      put(observations, [...(progress.observations ?? [])]),
      put(headers, [...progress.headers]),
      put(feedAnswers, toAnswerRows(flushed.answers, chainId)),
    ),
    ...inParallel(
      put(poolUsers, users),
      put(rollups, rollupRows),
      put(v2Rollups, byPool(v2.rollups)),
      put(v2LargeSwaps, byPool(v2.largeSwaps)),
      put(lpPositions, lp.positions),
      put(poolStates, states),
      put(poolFees, [...progress.fees]),
      put(factoryFees, [...progress.factoryFees]),
      ...oldHeaders,
    ),
    // Again for MongoDB, where the steps before this one take time.
    ...guardedPut(guard, checkpoints, progress.checkpoint),
  ]);
}

/**
 * Rows in the order of the pages that they go to. A batch touches more pages than the engine has in memory: in any
 * other order it would write and read many of them again and again.
 */
function byPool<R extends { readonly poolAddress: string }>(rows: readonly R[]): R[] {
  return [...rows].sort((a, b) => compareTexts(a.poolAddress, b.poolAddress));
}

/** The last answer of each feed in a block. */
export function toAnswerRows(answers: readonly FeedAnswer[], chainId: number): FeedAnswerRow[] {
  const rows = new Map<string, FeedAnswerRow>();
  for (const { token, blockNumber, usd, updatedAt } of answers)
    rows.set(`${token}:${blockNumber}`, { chainId, token, blockNumber, usd, updatedAt });
  return [...rows.values()];
}

/** The steps of a first run: the checkpoint before the first block, and the price anchors from there on. */
export function startSteps(
  checkpoint: CheckpointRow,
  anchors: readonly string[],
  guard: Guard = () => [],
): WriteStep[] {
  const { chainId, blockNumber, blockTime } = checkpoint;
  return [
    ...guard(),
    // Removes those of a first run that was killed between the steps and began at another block.
    removeWhere(priceLinks, { chainId }),
    put(priceLinks, toAnchorRows(anchors, { chainId, blockNumber, time: blockTime })),
    ...guardedPut(guard, checkpoints, checkpoint),
  ];
}
