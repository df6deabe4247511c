import type { Store } from "../../shared/storage/port.ts";
import { MINUTE, type Span, startOf } from "../metrics/bucket.ts";
import type { BucketClose, BucketTotals } from "../metrics/pool-windows.ts";
import { SUMMED_FIELDS } from "../metrics/pool-windows.ts";
import type { CheckpointRow, PoolRow, RollupRow } from "../store/collections.ts";
import { eventsSince, findCloses, sumRollups } from "../store/queries.ts";
import { rebuildOpenBuckets } from "./open-buckets.ts";

export interface RollupRange {
  readonly span: Span;
  readonly start: number;
  readonly end: number;
}

/** What windows read of a pool's buckets. */
export interface Rollups {
  sum(range: RollupRange): Promise<BucketTotals>;
  closes(range: RollupRange): Promise<BucketClose[]>;
}

/** As they are stored, up to the head. */
export function rollupsOf(store: Store, key: { chainId: number; poolAddress: string }): Rollups {
  return {
    sum: (range) => sumRollups(store, { ...key, ...range }),
    closes: (range) => findCloses(store, { ...key, ...range }),
  };
}

/**
 * As they were at an earlier block: of each span, the buckets that were closed then, and the open one made anew from the
 * swaps of its minute up to that block.
 */
export async function pastRollupsOf(
  store: Store,
  { pool, checkpoint }: { pool: PoolRow; checkpoint: CheckpointRow },
): Promise<Rollups> {
  const { chainId, poolAddress } = pool;
  const { blockNumber, blockTime: now } = checkpoint;
  const stored = rollupsOf(store, { chainId, poolAddress });
  const minute = { chainId, poolAddress, time: startOf(now, MINUTE), before: now + 1 };
  const events = await eventsSince(store, minute);
  const swaps = events.filter((event) => event.kind === "swap" && event.blockNumber <= blockNumber);
  const rebuilt = await rebuildOpenBuckets(store, { pool, target: { time: now }, swaps });
  const openOf = ({ span, start, end }: RollupRange): RollupRow[] =>
    rebuilt.filter((row) => row.span === span && row.start >= start && row.start < end);
  const closedOf = (range: RollupRange): RollupRange => ({
    ...range,
    end: Math.min(range.end, startOf(now, range.span)),
  });
  return {
    async sum(range) {
      const total = { ...(await stored.sum(closedOf(range))) };
      for (const row of openOf(range)) for (const field of SUMMED_FIELDS) total[field] += row[field];
      return total;
    },
    async closes(range) {
      const open = openOf(range).map(({ start, closePrice }) => ({ start, closePrice }));
      return [...(await stored.closes(closedOf(range))), ...open];
    },
  };
}
