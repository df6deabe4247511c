import { DAY, HOUR, startOf } from "../../metrics/bucket.ts";
import { type LargeSwap, largestOf } from "../../metrics/large-swaps.ts";
import { emptyV2Bucket, mergeV2Into, type V2Bucket } from "../../metrics/v2-bucket.ts";
import { protocolOf } from "../../protocols/index.ts";
import type { PoolRow } from "../../store/collections.ts";
import { eventsSince } from "../../store/queries.ts";
import {
  type V2LargeSwapsRow,
  type V2RollupRow,
  v2LargeSwaps,
  v2Rollups,
} from "../../store/v2-collections.ts";
import { findV2Rollups } from "../../store/v2-queries.ts";
import { countV2Swap, toV2Swap } from "../../views/v2-swap.ts";
import { readRollup, toRollup } from "../state/v2-book.ts";
import type { MergedStores } from "./merge-buckets.ts";

/** A v2 pool's hours and days with those of the chunk, and its hours' largest swaps; see mergeBuckets. */
export async function mergeV2Buckets(
  at: MergedStores,
  pool: PoolRow,
): Promise<{ rollups: V2RollupRow[]; largeSwaps: V2LargeSwapsRow[] }> {
  const { main, past, chunk, fromTime } = at;
  const key = { chainId: pool.chainId, poolAddress: pool.poolAddress };
  const filter = { ...key, start: { gte: chunk.start } };
  const hours = new Map<number, V2Bucket>();
  for (const row of await past.find(v2Rollups, { filter: { ...filter, span: HOUR } }))
    hours.set(row.start, readRollup(row));
  const edge = startOf(fromTime, HOUR);
  if (hours.has(edge)) hours.set(edge, await edgeHour(at, { pool, start: edge }));
  const rollups = [...hours].map(([start, bucket]) => toRollup({ ...key, span: HOUR, start }, bucket));
  for (const start of new Set([...hours.keys()].map((hour) => startOf(hour, DAY)))) {
    const own = [...hours.keys()].filter((hour) => startOf(hour, DAY) === start);
    const day = emptyV2Bucket();
    for (const hour of own) mergeV2Into(day, hours.get(hour) as V2Bucket);
    const span = { chainId: key.chainId, pools: [key.poolAddress], span: HOUR };
    const later = await findV2Rollups(main, { ...span, start: Math.max(...own) + HOUR, end: start + DAY });
    for (const row of later) mergeV2Into(day, readRollup(row));
    rollups.push(toRollup({ ...key, span: DAY, start }, day));
  }
  const largeSwaps = await Promise.all(
    (await past.find(v2LargeSwaps, { filter })).map(async (row) => {
      const stored = row.start === edge ? await main.get(v2LargeSwaps, { ...key, start: edge }) : undefined;
      return stored === undefined ? row : { ...row, swaps: largestOf(distinct([row, stored])) };
    }),
  );
  return { rollups, largeSwaps };
}

/** The hour in which the index began, from the rows of both sides. */
async function edgeHour(
  { main, past, chunk }: MergedStores,
  { pool, start }: { pool: PoolRow; start: number },
): Promise<V2Bucket> {
  const key = { chainId: pool.chainId, poolAddress: pool.poolAddress, time: start, before: start + HOUR };
  const own = (await eventsSince(past, key)).filter(
    ({ blockNumber }) => blockNumber >= chunk.from.number && blockNumber <= chunk.to,
  );
  const later = (await eventsSince(main, key)).filter(({ blockNumber }) => blockNumber > chunk.to);
  const protocol = protocolOf(pool.protocol);
  const hour = emptyV2Bucket();
  for (const row of [...own, ...later]) {
    const swap = toV2Swap(row, protocol);
    if (swap !== undefined) countV2Swap(hour, swap);
  }
  return hour;
}

/** Of an hour that was merged before a kill, the index has the chunk's swaps too. */
function distinct(rows: readonly V2LargeSwapsRow[]): LargeSwap[] {
  const swaps = rows.flatMap((row) => row.swaps as LargeSwap[]);
  return [...new Map(swaps.map((swap) => [`${swap.blockNumber}:${swap.logIndex}`, swap])).values()];
}
