import { put, type WriteStep } from "../../../shared/storage/port.ts";
import { HOUR, SPANS, startOf } from "../../metrics/bucket.ts";
import { protocolOf } from "../../protocols/index.ts";
import { readIntegers, writeIntegers } from "../../protocols/integers.ts";
import { type PoolEventRow, type PoolRow, poolEvents, poolUsers, rollups } from "../../store/collections.ts";
import { NEWEST_FIRST } from "../../store/queries.ts";
import { v2LargeSwaps, v2Rollups } from "../../store/v2-collections.ts";
import { type MergedBuckets, type MergedStores, mergeBuckets } from "./merge-buckets.ts";
import { mergeV2Buckets } from "./merge-v2-buckets.ts";

/** Rows of one write: the head of the chain waits for it. */
export const ROWS_A_WRITE = 10_000;

/**
 * The rows of one pool's events, newest first: while some are stored, the last row before the index is that of the
 * pool's last event before it. At most `ROWS_A_WRITE` at a time.
 */
export async function* pastEvents(
  { past, chunk }: MergedStores,
  { chainId, poolAddress }: PoolRow,
): AsyncGenerator<PoolEventRow[]> {
  const within = { gte: chunk.from.number, lte: chunk.to };
  const filter = { chainId, poolAddress, blockNumber: within };
  const newest = await past.find(poolEvents, {
    filter: { ...filter, time: { gte: chunk.from.time } },
    order: NEWEST_FIRST,
    limit: ROWS_A_WRITE,
  });
  if (newest.length < ROWS_A_WRITE) {
    if (newest.length > 0) yield newest;
    return;
  }
  // By hours: so many rows are of a few pools, and an hour of such a pool is read at once.
  const last = newest[0] as PoolEventRow;
  for (let hour = startOf(last.time, HOUR); hour + HOUR > chunk.from.time; hour -= HOUR) {
    const time = { gte: Math.max(hour, chunk.from.time), lt: hour + HOUR };
    const rows = await past.find(poolEvents, { filter: { ...filter, time }, order: NEWEST_FIRST });
    for (let from = 0; from < rows.length; from += ROWS_A_WRITE) yield rows.slice(from, from + ROWS_A_WRITE);
  }
}

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
