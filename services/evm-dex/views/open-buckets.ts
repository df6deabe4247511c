import type { Store } from "../../shared/storage/port.ts";
import {
  addSwap,
  type Bucket,
  DAY,
  emptyBucket,
  HOUR,
  MINUTE,
  mergeInto,
  startOf,
} from "../metrics/bucket.ts";
import { protocolOf } from "../protocols/index.ts";
import type { PoolEventRow, PoolRow, RollupRow } from "../store/collections.ts";
import { findRollups } from "../store/queries.ts";

/**
 * Rebuilds the minute, hour and day that hold the target's time from the events up to the target: the minute from
 * its swaps, the hour from its minutes, the day from its hours. Users are counted elsewhere. Leaves out empty buckets.
 */
export async function rebuildOpenBuckets(
  store: Store,
  {
    pool,
    target,
    swaps,
  }: { pool: PoolRow; target: { readonly time: number }; swaps: readonly PoolEventRow[] },
): Promise<RollupRow[]> {
  const key = { chainId: pool.chainId, poolAddress: pool.poolAddress };
  const minuteStart = startOf(target.time, MINUTE);
  const minute = emptyBucket();
  const protocol = protocolOf(pool.protocol);
  for (const event of swaps) {
    addSwap(minute, {
      valueUsd: event.valueUsd,
      feeUsd: event.feeUsd,
      tickTravel: event.tickTravel ?? 0,
      closePrice: protocol.price(protocol.read(event.state), pool) ?? 0,
    });
  }
  const hourStart = startOf(target.time, HOUR);
  const hour = await mergeStored(store, { ...key, span: MINUTE, start: hourStart, end: minuteStart });
  mergeInto(hour, minute);
  const dayStart = startOf(target.time, DAY);
  const day = await mergeStored(store, { ...key, span: HOUR, start: dayStart, end: hourStart });
  mergeInto(day, hour);
  return [
    { ...key, span: MINUTE, start: minuteStart, ...minute },
    { ...key, span: HOUR, start: hourStart, ...hour },
    { ...key, span: DAY, start: dayStart, ...day },
  ].filter((row) => row.swapCount > 0);
}

async function mergeStored(store: Store, query: Parameters<typeof findRollups>[1]): Promise<Bucket> {
  const merged = emptyBucket();
  for (const row of await findRollups(store, query)) mergeInto(merged, row);
  return merged;
}
