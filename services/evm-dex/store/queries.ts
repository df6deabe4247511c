import type { OrderBy, Store } from "../../shared/storage/port.ts";
import { type BucketClose, type BucketTotals, SUMMED_FIELDS } from "../metrics/pool-windows.ts";
import {
  type CheckpointRow,
  checkpoints,
  discoveries,
  type FeedAnswerRow,
  feedAnswers,
  type InactivePoolRow,
  inactivePools,
  type PoolEventRow,
  type PoolFeeRow,
  type PoolRow,
  type PoolStateRow,
  type PoolUserRow,
  type PriceStartRow,
  poolEvents,
  poolFees,
  poolStates,
  pools,
  poolUsers,
  priceStarts,
  type RollupRow,
  rollups,
  type TokenRow,
  tokens,
} from "./collections.ts";

interface ChainPosition {
  time: number;
  blockNumber: number;
  logIndex: number;
}

/** The order of the chain, as in the indexes by time. */
export const OLDEST_FIRST: readonly OrderBy<ChainPosition>[] = [
  { field: "time", direction: "asc" },
  { field: "blockNumber", direction: "asc" },
  { field: "logIndex", direction: "asc" },
];
export const NEWEST_FIRST: readonly OrderBy<ChainPosition>[] = OLDEST_FIRST.map(({ field }) => ({
  field,
  direction: "desc",
}));

export interface BucketKey {
  readonly poolAddress: string;
  readonly span: number;
  readonly start: number;
}

export function getCheckpoint(store: Store, chainId: number): Promise<CheckpointRow | undefined> {
  return store.get(checkpoints, { chainId });
}

/** The last block that the scan of a factory or voter has read. */
export async function readScannedTo(
  store: Store,
  key: { chainId: number; factory: string },
): Promise<number | undefined> {
  return (await store.get(discoveries, key))?.blockNumber;
}

export function getPool(
  store: Store,
  key: { chainId: number; poolAddress: string },
): Promise<PoolRow | undefined> {
  return store.get(pools, key);
}

export function getPools(
  store: Store,
  { addresses, chainId }: { chainId: number; addresses: readonly string[] },
): Promise<PoolRow[]> {
  return store.getMany(
    pools,
    addresses.map((poolAddress) => ({ chainId, poolAddress })),
  );
}

export function getPoolStates(
  store: Store,
  { addresses, chainId }: { chainId: number; addresses: readonly string[] },
): Promise<PoolStateRow[]> {
  return store.getMany(
    poolStates,
    addresses.map((poolAddress) => ({ chainId, poolAddress })),
  );
}

export function getInactivePools(
  store: Store,
  { addresses, chainId }: { chainId: number; addresses: readonly string[] },
): Promise<InactivePoolRow[]> {
  return store.getMany(
    inactivePools,
    addresses.map((poolAddress) => ({ chainId, poolAddress })),
  );
}

export type PoolState = Omit<InactivePoolRow, "priced">;

/** A pool's state from its events, or of an inactive pool. */
export async function getPoolState(
  store: Store,
  key: { chainId: number; poolAddress: string },
): Promise<PoolState | undefined> {
  const query = { chainId: key.chainId, addresses: [key.poolAddress] };
  const [state] = await getPoolStates(store, query);
  return state ?? (await getInactivePools(store, query))[0];
}

export function getPoolFee(
  store: Store,
  key: { chainId: number; poolAddress: string },
): Promise<PoolFeeRow | undefined> {
  return store.get(poolFees, key);
}

export function getPriceStart(store: Store, chainId: number): Promise<PriceStartRow | undefined> {
  return store.get(priceStarts, { chainId });
}

export function getPoolUsers(
  store: Store,
  { users, chainId }: { chainId: number; users: readonly { poolAddress: string; user: string }[] },
): Promise<PoolUserRow[]> {
  return store.getMany(
    poolUsers,
    users.map(({ poolAddress, user }) => ({ chainId, poolAddress, user })),
  );
}

/** Whether any user of any pool is stored. */
export async function hasPoolUsers(store: Store, chainId: number): Promise<boolean> {
  return (await store.find(poolUsers, { filter: { chainId }, fields: ["chainId"], limit: 1 })).length > 0;
}

export function getRollups(
  store: Store,
  { buckets, chainId }: { chainId: number; buckets: readonly BucketKey[] },
): Promise<RollupRow[]> {
  return store.getMany(
    rollups,
    buckets.map(({ poolAddress, span, start }) => ({ chainId, poolAddress, span, start })),
  );
}

/** Fields of a rollup that merging needs: reading the texts of its key would double the cost of a row. */
const BUCKET_FIELDS = [
  "start",
  "swapCount",
  "volumeUsd",
  "feesUsd",
  "unpricedCount",
  "unpricedFeeCount",
  "tickTravel",
  "closePrice",
  "lastSeenUsers",
] as const;
type BucketRow = Pick<RollupRow, (typeof BUCKET_FIELDS)[number]>;

/** Buckets of one span that start in [start, end), oldest first. */
export function findRollups(
  store: Store,
  { chainId, poolAddress, span, start, end }: RollupRange,
): Promise<BucketRow[]> {
  return store.find(rollups, {
    filter: { chainId, poolAddress, span, start: { gte: start, lt: end } },
    order: [{ field: "start", direction: "asc" }],
    fields: BUCKET_FIELDS,
  });
}

type RollupRange = { chainId: number; poolAddress: string; span: number; start: number; end: number };

/** Totals over the buckets of one span that start in [start, end). */
export function sumRollups(
  store: Store,
  { chainId, poolAddress, span, start, end }: RollupRange,
): Promise<BucketTotals> {
  return store.sum(rollups, { chainId, poolAddress, span, start: { gte: start, lt: end } }, SUMMED_FIELDS);
}

/** Closes of the buckets of one span that start in [start, end), oldest first. */
export function findCloses(
  store: Store,
  { chainId, poolAddress, span, start, end }: RollupRange,
): Promise<BucketClose[]> {
  return store.find(rollups, {
    filter: { chainId, poolAddress, span, start: { gte: start, lt: end } },
    order: [{ field: "start", direction: "asc" }],
    fields: ["start", "closePrice"],
  });
}

/** Price after the last swap before `start`, or undefined where there was none. */
export async function lastCloseBefore(
  store: Store,
  {
    chainId,
    poolAddress,
    span,
    start,
  }: { chainId: number; poolAddress: string; span: number; start: number },
): Promise<number | undefined> {
  const [row] = await store.find(rollups, {
    filter: { chainId, poolAddress, span, start: { lt: start } },
    order: [{ field: "start", direction: "desc" }],
    limit: 1,
    fields: ["closePrice"],
  });
  return row?.closePrice;
}

/** The last event of a pool up to a block, which carries the pool's state there. */
export async function lastEventUpTo(
  store: Store,
  {
    chainId,
    poolAddress,
    block,
    time,
  }: { chainId: number; poolAddress: string; block: number; time: number },
): Promise<PoolEventRow | undefined> {
  const [row] = await store.find(poolEvents, {
    filter: { chainId, poolAddress, time: { lte: time }, blockNumber: { lte: block } },
    order: NEWEST_FIRST,
    limit: 1,
  });
  return row;
}

/** Of each pool its last event up to a time, by pool. Pools without one are left out. */
export async function lastEventsUpTo(
  store: Store,
  { chainId, pools, time }: { chainId: number; pools: readonly string[]; time: number },
): Promise<Map<string, PoolEventRow>> {
  const keys = pools.map((poolAddress) => ({ chainId, poolAddress, time }));
  const rows = await store.getLast(poolEvents, keys, ["chainId", "poolAddress", "time"]);
  return new Map(rows.map((row) => [row.poolAddress, row]));
}

/** The block of a pool's last swap up to a block, and the pool's state after it. */
export async function lastSwapOf(
  store: Store,
  {
    chainId,
    poolAddress,
    block,
    time,
  }: { chainId: number; poolAddress: string; block: number; time: number },
): Promise<Pick<PoolEventRow, "blockNumber" | "state"> | undefined> {
  const [row] = await store.find(poolEvents, {
    filter: { chainId, poolAddress, time: { lte: time }, blockNumber: { lte: block }, kind: "swap" },
    order: NEWEST_FIRST,
    limit: 1,
    fields: ["blockNumber", "state"],
  });
  return row;
}

/** The last block with events, up to `block` where that is given. */
export async function lastEventBlock(
  store: Store,
  { chainId, block = Number.MAX_SAFE_INTEGER }: { chainId: number; block?: number },
): Promise<{ blockNumber: number; time: number } | undefined> {
  const [row] = await store.find(poolEvents, {
    filter: { chainId, blockNumber: { lte: block } },
    order: [
      { field: "blockNumber", direction: "desc" },
      { field: "logIndex", direction: "desc" },
    ],
    limit: 1,
    fields: ["time", "blockNumber"],
  });
  return row;
}

/** The last answer of each anchor's feed up to a block, and all after it, in the order of the chain. */
export async function listFeedAnswers(
  store: Store,
  { chainId, anchors, block }: { chainId: number; anchors: readonly string[]; block: number },
): Promise<FeedAnswerRow[]> {
  const keys = anchors.map((token) => ({ chainId, token, blockNumber: block }));
  const before = await store.getLast(feedAnswers, keys);
  const after = await store.find(feedAnswers, {
    filter: { chainId, blockNumber: { gt: block } },
    order: [{ field: "blockNumber", direction: "asc" }],
  });
  return [...before.sort((a, b) => a.blockNumber - b.blockNumber), ...after];
}

/** Events of one pool from a second on, before another where one is given, oldest first. */
export function eventsSince(
  store: Store,
  {
    chainId,
    poolAddress,
    time,
    before,
  }: { chainId: number; poolAddress: string; time: number; before?: number },
): Promise<PoolEventRow[]> {
  return store.find(poolEvents, {
    filter: { chainId, poolAddress, time: { gte: time, ...(before !== undefined && { lt: before }) } },
    order: OLDEST_FIRST,
  });
}

/** A pool's swaps in [start, end) that are still stored, oldest first, with what buckets sum up of them. */
export function findSwaps(
  store: Store,
  { chainId, poolAddress, start, end }: { chainId: number; poolAddress: string; start: number; end: number },
): Promise<Pick<PoolEventRow, "time" | "sender" | "valueUsd" | "feeUsd" | "tickTravel">[]> {
  return store.find(poolEvents, {
    filter: { chainId, poolAddress, time: { gte: start, lt: end }, kind: "swap" },
    order: OLDEST_FIRST,
    fields: ["time", "sender", "valueUsd", "feeUsd", "tickTravel"],
  });
}

/** Who made a pool's swaps from a second on, up to a block that lies in the last one. */
export function findSenders(
  store: Store,
  {
    chainId,
    poolAddress,
    from,
    to,
    block,
  }: { chainId: number; poolAddress: string; from: number; to: number; block: number },
): Promise<Pick<PoolEventRow, "time" | "sender">[]> {
  return store.find(poolEvents, {
    filter: {
      chainId,
      poolAddress,
      time: { gte: from, lte: to },
      blockNumber: { lte: block },
      kind: "swap",
    },
    order: OLDEST_FIRST,
    fields: ["time", "sender"],
  });
}

/** Rows of a page of users: some 3 ms of SQLite. */
const USERS_A_PAGE = 2_000;

/** All users of a pool, a page at a time, by key: a pool may have millions. Tolerates removals. */
export async function* listPoolUsers(
  store: Store,
  {
    chainId,
    poolAddress,
    pageSize = USERS_A_PAGE,
  }: { chainId: number; poolAddress: string; pageSize?: number },
): AsyncGenerator<Pick<PoolUserRow, "user" | "lastMinute">[]> {
  for (let last = ""; ; ) {
    const page = await store.find(poolUsers, {
      filter: { chainId, poolAddress, user: { gt: last } },
      limit: pageSize,
      fields: ["user", "lastMinute"],
    });
    if (page.length > 0) yield page;
    if (page.length < pageSize) return;
    last = page.at(-1)?.user as string;
  }
}

export function getTokens(
  store: Store,
  { addresses, chainId }: { chainId: number; addresses: readonly string[] },
): Promise<TokenRow[]> {
  return store.getMany(
    tokens,
    addresses.map((address) => ({ chainId, address })),
  );
}
