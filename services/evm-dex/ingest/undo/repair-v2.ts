import { put, removeWhere, type Store, type WriteStep } from "../../../shared/storage/port.ts";
import { DAY, HOUR, startOf } from "../../metrics/bucket.ts";
import { emptyV2Bucket, mergeV2Into } from "../../metrics/v2-bucket.ts";
import { protocolOf } from "../../protocols/index.ts";
import type { PoolRow } from "../../store/collections.ts";
import { eventsSince } from "../../store/queries.ts";
import { v2LargeSwaps, v2Rollups } from "../../store/v2-collections.ts";
import { findV2Rollups } from "../../store/v2-queries.ts";
import { countV2Swap, largestOfRows, toV2Swap } from "../../views/v2-swap.ts";
import { readRollup, toRollup, V2_SPANS } from "../state/v2-book.ts";
import type { RollbackTarget } from "./removed.ts";

/**
 * The steps that roll a v2 pool's hours and days back to the target: the hour that holds it from its rows, the day
 * from its hours, the largest swaps of the hour from its rows. Leaves out empty ones.
 */
export async function repairV2Buckets(
  store: Store,
  { pool, target }: { pool: PoolRow; target: RollbackTarget },
): Promise<WriteStep[]> {
  const { chainId, poolAddress } = pool;
  const [hourStart, dayStart] = [startOf(target.time, HOUR), startOf(target.time, DAY)];
  const protocol = protocolOf(pool.protocol);
  const rows = await eventsSince(store, { chainId, poolAddress, time: hourStart });
  const swaps = rows
    .filter((row) => row.blockNumber <= target.number)
    .flatMap((row) => toV2Swap(row, protocol) ?? []);
  const hour = emptyV2Bucket();
  for (const swap of swaps) countV2Swap(hour, swap);
  const day = emptyV2Bucket();
  const before = { chainId, pools: [poolAddress], span: HOUR, start: dayStart, end: hourStart };
  for (const row of await findV2Rollups(store, before)) mergeV2Into(day, readRollup(row));
  mergeV2Into(day, hour);
  const open = [
    toRollup({ chainId, poolAddress, span: HOUR, start: hourStart }, hour),
    toRollup({ chainId, poolAddress, span: DAY, start: dayStart }, day),
  ];
  const largest = { chainId, poolAddress, start: hourStart, swaps: largestOfRows(swaps) };
  return [
    ...removeV2From({ chainId, poolAddress, time: target.time }),
    put(
      v2Rollups,
      open.filter((row) => row.swapCount > 0),
    ),
    put(v2LargeSwaps, swaps.length > 0 ? [largest] : []),
  ];
}

/** Removes a v2 pool's hours and days that start at `time` or hold it, and later ones. */
export function removeV2From({
  chainId,
  poolAddress,
  time,
}: {
  chainId: number;
  poolAddress: string;
  time: number;
}): WriteStep[] {
  return [
    ...V2_SPANS.map((span) =>
      removeWhere(v2Rollups, { chainId, poolAddress, span, start: { gte: startOf(time, span) } }),
    ),
    removeWhere(v2LargeSwaps, { chainId, poolAddress, start: { gte: startOf(time, HOUR) } }),
  ];
}
