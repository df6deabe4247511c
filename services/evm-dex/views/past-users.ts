import type { Store } from "../../shared/storage/port.ts";
import type { RangeMetrics } from "../metrics/pool-windows.ts";
import { TIME_RANGES, windowAt } from "../metrics/window.ts";
import type { CheckpointRow, PoolRow } from "../store/collections.ts";
import { findSenders } from "../store/queries.ts";

/** Swaps that distinct users of an earlier block are counted of at most. */
export const MOST_SWAPS = 20_000;

/**
 * The same with the distinct users of an earlier block. Buckets count users by their latest swap, which may lie beyond it,
 * so that they are counted swap by swap: null for a range with more than MOST_SWAPS, and where not all are stored.
 */
export async function withPastUsers(
  store: Store,
  metrics: readonly RangeMetrics[],
  { pool, checkpoint }: { pool: PoolRow; checkpoint: CheckpointRow },
): Promise<RangeMetrics[]> {
  const { blockNumber: block, blockTime } = checkpoint;
  const starts = TIME_RANGES.map(({ seconds }) => windowAt(blockTime, seconds).start);
  const isCounted = metrics.map(({ swapCount }) => swapCount !== null && swapCount <= MOST_SWAPS);
  const first = starts[isCounted.lastIndexOf(true)];
  if (first === undefined) return [...metrics];
  const { chainId, poolAddress } = pool;
  const swaps = await findSenders(store, { chainId, poolAddress, from: first, to: blockTime, block });
  return metrics.map((range, i) => {
    const within = swaps.filter(({ time }) => time >= (starts[i] as number));
    const isWhole = isCounted[i] && within.length === range.swapCount;
    return { ...range, uniqueUserCount: isWhole ? new Set(within.map(({ sender }) => sender)).size : null };
  });
}
