import type { OrderBy, Store } from "../../shared/storage/port.ts";
import { type BucketClose, type BucketTotals, SUMMED_FIELDS } from "../metrics/pool-windows.ts";
import {
  type CheckpointRow,
  checkpoints,
  discoveries,
  type PoolEventRow,
  type PoolFeeRow,
  type PoolRow,
  type PoolStateRow,
  type PoolUserRow,
  poolEvents,
  poolFees,
  poolStates,
  pools,
  poolUsers,
  type QuietPoolRow,
  quietPools,
  type RollupRow,
  rollups,
  type TokenRow,
  tokens,
} from "./collections.ts";

interface Placed {
  time: number;
  blockNumber: number;
  logIndex: number;
}

/** The order of the chain, as the indexes by time have it. */
export const OLDEST_FIRST: readonly OrderBy<Placed>[] = [
  { field: "time", direction: "asc" },
  { field: "blockNumber", direction: "asc" },
  { field: "logIndex", direction: "asc" },
];
export const NEWEST_FIRST: readonly OrderBy<Placed>[] = OLDEST_FIRST.map(({ field }) => ({
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
  of: { chainId: number; addresses: readonly string[] },
): Promise<PoolRow[]> {
  return store.getMany(
    pools,
    of.addresses.map((poolAddress) => ({ chainId: of.chainId, poolAddress })),
  );
}

export function getPoolStates(
  store: Store,
  of: { chainId: number; addresses: readonly string[] },
): Promise<PoolStateRow[]> {
  return store.getMany(
    poolStates,
    of.addresses.map((poolAddress) => ({ chainId: of.chainId, poolAddress })),
  );
}

export function getQuietPools(
  store: Store,
  of: { chainId: number; addresses: readonly string[] },
): Promise<QuietPoolRow[]> {
  return store.getMany(
    quietPools,
    of.addresses.map((poolAddress) => ({ chainId: of.chainId, poolAddress })),
  );
}

export type PoolStanding = Pick<PoolStateRow, keyof QuietPoolRow>;

/** Where a pool stands by its events, or without any since the index began. */
export async function getStanding(
  store: Store,
  key: { chainId: number; poolAddress: string },
): Promise<PoolStanding | undefined> {
  const of = { chainId: key.chainId, addresses: [key.poolAddress] };
  const [state] = await getPoolStates(store, of);
  return state ?? (await getQuietPools(store, of))[0];
}

export function getPoolFee(
  store: Store,
  key: { chainId: number; poolAddress: string },
): Promise<PoolFeeRow | undefined> {
  return store.get(poolFees, key);
}

/** Which pools' fees are read, and at which block. */
export function listPoolFees(
  store: Store,
  chainId: number,
): Promise<Pick<PoolFeeRow, "poolAddress" | "block">[]> {
  return store.find(poolFees, { filter: { chainId }, fields: ["poolAddress", "block"] });
}

export function listPoolStates(store: Store, chainId: number): Promise<PoolStateRow[]> {
  return store.find(poolStates, { filter: { chainId } });
}

/** At once, half a million pools would take 300 MB that are never given back. */
const KNOWN_POOLS_A_PAGE = 5_000;

/** Addresses of every pool of a chain, with the kind of their protocol, a page at a time. */
export async function* listKnownPools(
  store: Store,
  { chainId, pageSize = KNOWN_POOLS_A_PAGE }: { chainId: number; pageSize?: number },
): AsyncGenerator<Pick<PoolRow, "poolAddress" | "protocol">[]> {
  for (let last = ""; ; ) {
    const page = await store.find(pools, {
      filter: { chainId, poolAddress: { gt: last } },
      limit: pageSize,
      fields: ["poolAddress", "protocol"],
    });
    if (page.length > 0) yield page;
    if (page.length < pageSize) return;
    last = page.at(-1)?.poolAddress as string;
  }
}

/** Pools of some kinds, in no particular order. */
export async function listPoolsOfKinds(
  store: Store,
  of: { chainId: number; kinds: readonly string[] },
): Promise<Pick<PoolRow, "poolAddress" | "protocol" | "createdBlock">[]> {
  return store.find(pools, {
    filter: { chainId: of.chainId, protocol: { in: of.kinds } },
    fields: ["poolAddress", "protocol", "createdBlock"],
  });
}

export function getPoolUsers(
  store: Store,
  of: { chainId: number; users: readonly { poolAddress: string; user: string }[] },
): Promise<PoolUserRow[]> {
  return store.getMany(
    poolUsers,
    of.users.map((user) => ({ chainId: of.chainId, ...user })),
  );
}

export function getRollups(
  store: Store,
  of: { chainId: number; buckets: readonly BucketKey[] },
): Promise<RollupRow[]> {
  return store.getMany(
    rollups,
    of.buckets.map((bucket) => ({ chainId: of.chainId, ...bucket })),
  );
}

/** What merging needs of a rollup: reading the texts of its key would double the cost of a row. */
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
export type BucketRow = Pick<RollupRow, (typeof BUCKET_FIELDS)[number]>;

/** Buckets of one span that start in [start, end), oldest first. */
export function findRollups(store: Store, of: RollupRange): Promise<BucketRow[]> {
  const { chainId, poolAddress, span, start, end } = of;
  return store.find(rollups, {
    filter: { chainId, poolAddress, span, start: { gte: start, lt: end } },
    order: [{ field: "start", direction: "asc" }],
    fields: BUCKET_FIELDS,
  });
}

type RollupRange = { chainId: number; poolAddress: string; span: number; start: number; end: number };

/** Totals over the buckets of one span that start in [start, end). */
export function sumRollups(store: Store, of: RollupRange): Promise<BucketTotals> {
  const { chainId, poolAddress, span, start, end } = of;
  return store.sum(rollups, { chainId, poolAddress, span, start: { gte: start, lt: end } }, SUMMED_FIELDS);
}

/** Closes of the buckets of one span that start in [start, end), oldest first. */
export function findCloses(store: Store, of: RollupRange): Promise<BucketClose[]> {
  const { chainId, poolAddress, span, start, end } = of;
  return store.find(rollups, {
    filter: { chainId, poolAddress, span, start: { gte: start, lt: end } },
    order: [{ field: "start", direction: "asc" }],
    fields: ["start", "closePrice"],
  });
}

/** Price after the last swap before `start`, or undefined where there was none. */
export async function lastCloseBefore(
  store: Store,
  of: { chainId: number; poolAddress: string; span: number; start: number },
): Promise<number | undefined> {
  const { chainId, poolAddress, span, start } = of;
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
  of: { chainId: number; poolAddress: string; block: number; time: number },
): Promise<PoolEventRow | undefined> {
  const { chainId, poolAddress, block, time } = of;
  const [row] = await store.find(poolEvents, {
    filter: { chainId, poolAddress, time: { lte: time }, blockNumber: { lte: block } },
    order: NEWEST_FIRST,
    limit: 1,
  });
  return row;
}

/** Unix seconds of the last block with events, up to `block` where that is given. */
export async function lastEventTime(
  store: Store,
  of: { chainId: number; block?: number },
): Promise<number | undefined> {
  const { chainId, block = Number.MAX_SAFE_INTEGER } = of;
  const [row] = await store.find(poolEvents, {
    filter: { chainId, blockNumber: { lte: block } },
    order: [
      { field: "blockNumber", direction: "desc" },
      { field: "logIndex", direction: "desc" },
    ],
    limit: 1,
    fields: ["time"],
  });
  return row?.time;
}

/** Events of one pool from a second on, before another where one is given, oldest first. */
export function eventsSince(
  store: Store,
  of: { chainId: number; poolAddress: string; time: number; before?: number },
): Promise<PoolEventRow[]> {
  const { chainId, poolAddress, time, before } = of;
  return store.find(poolEvents, {
    filter: { chainId, poolAddress, time: { gte: time, ...(before !== undefined && { lt: before }) } },
    order: OLDEST_FIRST,
  });
}

export function getTokens(
  store: Store,
  of: { chainId: number; addresses: readonly string[] },
): Promise<TokenRow[]> {
  return store.getMany(
    tokens,
    of.addresses.map((address) => ({ chainId: of.chainId, address })),
  );
}
