import type { Store } from "../../../shared/storage/port.ts";
import {
  addSwap,
  type Bucket,
  DAY,
  emptyBucket,
  HOUR,
  MINUTE,
  mergeInto,
  startOf,
} from "../../metrics/bucket.ts";
import { protocolOf } from "../../protocols/index.ts";
import {
  type PoolEventRow,
  type PoolRow,
  type PoolUserRow,
  poolUsers,
  type RollupRow,
  rollups,
} from "../../store/collections.ts";
import { eventsSince, findRollups, getPoolUsers } from "../../store/queries.ts";
import type { HistoryChunk, KeptFrom } from "./chunk.ts";

export interface MergedStores {
  /** The index. */
  readonly main: Store;
  /** The chunk, indexed by itself. */
  readonly past: Store;
  readonly chunk: HistoryChunk;
  /** Time of the index's first block. */
  readonly fromTime: number;
  readonly keptFrom: KeptFrom;
}

/** The rows of one pool's swaps as they are with the chunk. */
export interface MergedBuckets {
  readonly rollups: RollupRow[];
  /** Users who have not swapped since the chunk. */
  readonly users: PoolUserRow[];
  /** The minute of the last swap in the chunk of each user who has swapped in the index too. */
  readonly returned: ReadonlyMap<string, number>;
}

/**
 * Adds a pool's swaps of the chunk to its buckets. Whole minutes and hours are the chunk's; those that it shares with
 * the index, where the index began in their middle, are built anew: the minute from both sides' rows, the hour from its
 * minutes, each day from its hours. Nothing is added to a stored row, so that merging twice is harmless.
 */
export async function mergeBuckets(at: MergedStores, pool: PoolRow): Promise<MergedBuckets> {
  const { main, past, chunk, fromTime } = at;
  const key = { chainId: pool.chainId, poolAddress: pool.poolAddress };
  const stored = await past.find(rollups, { filter: { ...key, start: { gte: chunk.start } } });
  const { users, later: laterUsers, returned } = await splitUsers(at, key);
  const minutes = bucketsOf(stored, MINUTE);
  const hours = bucketsOf(stored, HOUR);
  // Whoever came back counts in the bucket of the later swap.
  for (const minute of laterUsers) {
    lessOneUser(minutes, minute);
    lessOneUser(hours, startOf(minute, HOUR));
  }
  const edge = { minute: startOf(fromTime, MINUTE), hour: startOf(fromTime, HOUR) };
  if (minutes.has(edge.minute))
    minutes.set(edge.minute, await edgeMinute(at, { pool, users, start: edge.minute }));
  if (hours.has(edge.hour)) {
    const own = [...minutes].filter(([start]) => start >= edge.hour).sort(byStart);
    const later = await findRollups(main, {
      ...{
        ...key,
        span: MINUTE,
        start: Math.max(edge.hour, edge.minute + (minutes.has(edge.minute) ? MINUTE : 0)),
      },
      end: edge.hour + HOUR,
    });
    hours.set(edge.hour, sumOf([...own.map(([, bucket]) => bucket), ...later]));
  }
  const days = new Map<number, Bucket>();
  for (const start of new Set([...hours.keys()].map((hour) => startOf(hour, DAY)))) {
    const own = [...hours].filter(([hour]) => startOf(hour, DAY) === start).sort(byStart);
    const lastOwn = own.at(-1)?.[0] ?? start;
    const later = await findRollups(main, { ...key, span: HOUR, start: lastOwn + HOUR, end: start + DAY });
    days.set(start, sumOf([...own.map(([, bucket]) => bucket), ...later]));
  }
  const rows = (buckets: ReadonlyMap<number, Bucket>, span: number): RollupRow[] =>
    [...buckets].map(([start, bucket]) => ({ ...key, span, start, ...bucket }));
  // Closes are carried over from the last one.
  const lastMinute = Math.max(...minutes.keys());
  for (const start of minutes.keys())
    if (start < at.keptFrom.minutes && start !== lastMinute) minutes.delete(start);
  return { rollups: [...rows(minutes, MINUTE), ...rows(hours, HOUR), ...rows(days, DAY)], users, returned };
}

async function splitUsers(
  { main, past, chunk }: MergedStores,
  key: { chainId: number; poolAddress: string },
): Promise<{ users: PoolUserRow[]; later: number[]; returned: Map<string, number> }> {
  const all = await past.find(poolUsers, { filter: { ...key, lastMinute: { gte: chunk.start } } });
  const known = await main.getMany(
    poolUsers,
    all.map(({ user }) => ({ ...key, user })),
  );
  const lastOf = new Map(known.map((row) => [row.user, row.lastMinute]));
  const users: PoolUserRow[] = [];
  const later: number[] = [];
  const returned = new Map<string, number>();
  for (const row of all) {
    const last = lastOf.get(row.user);
    // In the same minute: before and after the edge, or merged before a kill.
    if (last !== undefined) returned.set(row.user, row.lastMinute);
    if (last !== undefined && last > row.lastMinute) later.push(row.lastMinute);
    else users.push(row);
  }
  return { users, later, returned };
}

/** The minute in which the index began, from the rows of both sides. */
async function edgeMinute(
  { main, past, chunk }: MergedStores,
  { pool, users, start }: { pool: PoolRow; users: readonly PoolUserRow[]; start: number },
): Promise<Bucket> {
  const key = { chainId: pool.chainId, poolAddress: pool.poolAddress, time: start, before: start + MINUTE };
  const isMerged = ({ blockNumber }: PoolEventRow) =>
    blockNumber >= chunk.from.number && blockNumber <= chunk.to;
  const own = (await eventsSince(past, key)).filter(isMerged);
  const later = (await eventsSince(main, key)).filter(({ blockNumber }) => blockNumber > chunk.to);
  const protocol = protocolOf(pool.protocol);
  const minute = emptyBucket();
  const senders = new Set<string>();
  for (const event of [...own, ...later]) {
    if (event.kind !== "swap") continue;
    senders.add(event.sender);
    addSwap(minute, {
      valueUsd: event.valueUsd,
      feeUsd: event.feeUsd,
      tickTravel: event.tickTravel ?? 0,
      closePrice: protocol.price(protocol.read(event.state), pool) ?? 0,
    });
  }
  const { chainId, poolAddress } = pool;
  const known = await getPoolUsers(main, {
    chainId,
    users: [...senders].map((user) => ({ poolAddress, user })),
  });
  const seen = new Set(known.filter(({ lastMinute }) => lastMinute === start).map(({ user }) => user));
  for (const { user, lastMinute } of users) if (lastMinute === start) seen.add(user);
  minute.lastSeenUsers = seen.size;
  return minute;
}

function bucketsOf(rows: readonly RollupRow[], span: number): Map<number, Bucket> {
  return new Map(
    rows.flatMap(({ chainId: _, poolAddress: __, span: own, start, ...bucket }) =>
      own === span ? [[start, bucket]] : [],
    ),
  );
}

function lessOneUser(buckets: ReadonlyMap<number, Bucket>, start: number): void {
  const bucket = buckets.get(start);
  if (bucket !== undefined) bucket.lastSeenUsers -= 1;
}

function sumOf(buckets: readonly Readonly<Bucket>[]): Bucket {
  const sum = emptyBucket();
  for (const bucket of buckets) mergeInto(sum, bucket);
  return sum;
}

function byStart([a]: readonly [number, unknown], [b]: readonly [number, unknown]): number {
  return a - b;
}
