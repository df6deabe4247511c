import { put, type WriteStep } from "../../../shared/storage/port.ts";
import { SPANS, startOf } from "../../metrics/bucket.ts";
import { protocolOf } from "../../protocols/index.ts";
import { readIntegers, writeIntegers } from "../../protocols/integers.ts";
import { type PoolEventRow, type PoolRow, poolEvents, poolUsers, rollups } from "../../store/collections.ts";
import { NEWEST_FIRST } from "../../store/queries.ts";
import { v2LargeSwaps, v2Rollups } from "../../store/v2-collections.ts";
import { type MergedBuckets, type MergedStores, mergeBuckets } from "./merge-buckets.ts";
import { mergeV2Buckets } from "./merge-v2-buckets.ts";

/**
 * Steps that add a pool's swaps of the chunk to its buckets and users. Buckets before users: a user of the chunk who
 * swaps again is taken out of a bucket that must be there.
 * @param finalTime Unix seconds; no row after it may be undone any more
 */
export async function mergeSwaps(
  at: MergedStores,
  { pool, finalTime }: { pool: PoolRow; finalTime: number },
): Promise<WriteStep[]> {
  if (protocolOf(pool.protocol).swapFees !== undefined) {
    const v2 = await mergeV2Buckets(at, pool);
    return [put(v2Rollups, v2.rollups), put(v2LargeSwaps, v2.largeSwaps)];
  }
  const merged = await mergeBuckets(at, pool);
  return [
    put(rollups, merged.rollups),
    put(poolEvents, await namePrevious(at, { pool, finalTime, merged })),
    put(poolUsers, merged.users),
  ];
}

/**
 * A user's first swap in the index was not their first: undoing it must lead back to the chunk, to buckets as they are merged
 * now. Rows of final blocks are never undone, and stay as they are.
 */
async function namePrevious(
  { main, chunk }: MergedStores,
  { pool, finalTime, merged }: { pool: PoolRow; finalTime: number; merged: MergedBuckets },
): Promise<PoolEventRow[]> {
  const { returned } = merged;
  if (merged.rollups.length === 0) return [];
  const rows = await main.find(poolEvents, {
    filter: {
      ...{ chainId: pool.chainId, poolAddress: pool.poolAddress, kind: "swap" },
      ...{ time: { gte: finalTime }, blockNumber: { gt: chunk.to } },
    },
    order: NEWEST_FIRST,
  });
  /** By bucket, the users whom it had before the swaps that were looked at so far took them out. */
  const users = new Map(
    merged.rollups.map(({ span, start, lastSeenUsers }) => [`${span}:${start}`, lastSeenUsers]),
  );
  return rows.flatMap((row) => {
    const previousMinute = row.previousMinute ?? returned.get(row.sender) ?? null;
    if (previousMinute === null) return [];
    const told = row.previousUsers === null ? [] : readIntegers(row.previousUsers);
    const left = SPANS.filter((span) => startOf(previousMinute, span) !== startOf(row.time, span));
    const counts = left.map((span, i) => {
      const bucket = `${span}:${startOf(previousMinute, span)}`;
      const count = users.get(bucket);
      if (count === undefined) return told[i] ?? -1n;
      users.set(bucket, count + 1);
      return BigInt(count + 1);
    });
    const previousUsers = counts.length === 0 ? null : writeIntegers(counts);
    if (previousMinute === row.previousMinute && previousUsers === row.previousUsers) return [];
    return [{ ...row, previousMinute, previousUsers }];
  });
}
