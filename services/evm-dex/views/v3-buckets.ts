import type { Store } from "../../shared/storage/port.ts";
import { HOUR, MINUTE } from "../metrics/bucket.ts";
import { totalsOfEdge } from "../metrics/edge.ts";
import {
  type BucketTotals,
  closeRangesAt,
  edgesAt,
  type FirstHour,
  firstHoursAt,
  type PoolBuckets,
  sumRangesAt,
} from "../metrics/pool-windows.ts";
import type { Edge } from "../metrics/window.ts";
import { findSwaps, getPoolUsers, getRollups, lastCloseBefore, sumRollups } from "../store/queries.ts";
import { type Rollups, rollupsOf } from "./past-buckets.ts";

interface PoolKey {
  readonly chainId: number;
  readonly poolAddress: string;
}

/** All that the six ranges of a v3 pool at a head are computed from; of an earlier block with `rollups` as they were then. */
export async function readBuckets(
  store: Store,
  { pool, headTime, ...query }: { pool: PoolKey; headTime: number; rollups?: Rollups | undefined },
): Promise<PoolBuckets> {
  const key = { chainId: pool.chainId, poolAddress: pool.poolAddress };
  const rollups = query.rollups ?? rollupsOf(store, key);
  const [sums, edges, coarse, closes] = await Promise.all([
    Promise.all(
      sumRangesAt(headTime).map(async (range) => ({
        ...range,
        totals: await rollups.sum(range),
      })),
    ),
    readEdges(store, { key, edges: edgesAt(headTime) }),
    readCoarse(store, { key, hours: firstHoursAt(headTime) }),
    Promise.all(
      closeRangesAt(headTime).map(async (range) => {
        const [before, found] = await Promise.all([
          lastCloseBefore(store, { ...key, ...range }),
          rollups.closes(range),
        ]);
        return [range.span, { before, closes: found }] as const;
      }),
    ),
  ]);
  return { sums, edges, coarse, closes: new Map(closes) };
}

/** The totals of the edges whose swaps are stored. Single swaps are read only of minutes that have any. */
async function readEdges(
  store: Store,
  { key, edges }: { key: PoolKey; edges: readonly Edge[] },
): Promise<Map<number, BucketTotals>> {
  const minutes = edges.map(({ minute }) => ({ poolAddress: key.poolAddress, span: MINUTE, start: minute }));
  const rows = await getRollups(store, { chainId: key.chainId, buckets: minutes });
  const buckets = new Map(rows.map((row) => [row.start, row]));
  const swaps = await Promise.all(
    edges.map(({ minute, end }) =>
      buckets.has(minute) ? findSwaps(store, { ...key, start: minute, end }) : [],
    ),
  );
  // Of those who swapped from the edge on: nobody else counts in it.
  const senders = new Set<string>();
  for (const [i, { minute, start }] of edges.entries()) {
    if (buckets.get(minute)?.lastSeenUsers === 0) continue;
    for (const swap of swaps[i] ?? []) if (swap.time >= start) senders.add(swap.sender);
  }
  const { chainId, poolAddress } = key;
  const users =
    senders.size === 0
      ? []
      : await getPoolUsers(store, { chainId, users: [...senders].map((user) => ({ poolAddress, user })) });
  const known = new Map<number, BucketTotals>();
  for (const [i, edge] of edges.entries()) {
    const ofMinute = users.filter(({ lastMinute }) => lastMinute === edge.minute);
    const totals = totalsOfEdge(edge, {
      bucket: buckets.get(edge.minute),
      swaps: swaps[i] ?? [],
      lastUsers: new Set(ofMinute.map(({ user }) => user)),
    });
    if (totals !== undefined) known.set(edge.start, totals);
  }
  return known;
}

/** Windows whose first hour lacks minutes: its bucket, which is kept for longer, says how many swaps these had. */
async function readCoarse(
  store: Store,
  { key, hours }: { key: PoolKey; hours: readonly FirstHour[] },
): Promise<Set<number>> {
  const coarse = new Set<number>();
  for (const { hour: start, windowStart } of hours) {
    const [[hour], minutes] = await Promise.all([
      getRollups(store, {
        chainId: key.chainId,
        buckets: [{ poolAddress: key.poolAddress, span: HOUR, start }],
      }),
      sumRollups(store, { ...key, span: MINUTE, start, end: start + HOUR }),
    ]);
    if (minutes.swapCount !== (hour?.swapCount ?? 0)) coarse.add(windowStart);
  }
  return coarse;
}
