import type { Store } from "../../shared/storage/port.ts";
import { type BucketKey, NEWEST_FIRST } from "./queries.ts";
import {
  type FactoryFeeRow,
  factoryFees,
  type GaugeRow,
  gauges,
  type LpEventRow,
  type LpPositionRow,
  lpEvents,
  lpPositions,
  type V2LargeSwapsRow,
  type V2RollupRow,
  v2LargeSwaps,
  v2Rollups,
} from "./v2-collections.ts";

/** Unix seconds, end excluded. */
interface TimeSpan {
  readonly start: number;
  readonly end: number;
}

export function getFactoryFees(
  store: Store,
  key: { chainId: number; factory: string },
): Promise<FactoryFeeRow | undefined> {
  return store.get(factoryFees, key);
}

export function listFactoryFees(store: Store, chainId: number): Promise<FactoryFeeRow[]> {
  return store.find(factoryFees, { filter: { chainId } });
}

export function listGauges(store: Store, chainId: number): Promise<GaugeRow[]> {
  return store.find(gauges, { filter: { chainId } });
}

export function getV2Rollups(
  store: Store,
  { buckets, chainId }: { chainId: number; buckets: readonly BucketKey[] },
): Promise<V2RollupRow[]> {
  return store.getMany(
    v2Rollups,
    buckets.map((bucket) => ({ chainId, ...bucket })),
  );
}

/** Buckets of one span of some pools that start in [start, end), pool by pool, oldest first. */
export function findV2Rollups(
  store: Store,
  {
    chainId,
    pools,
    span,
    start,
    end,
  }: { chainId: number; pools: readonly string[]; span: number } & TimeSpan,
): Promise<V2RollupRow[]> {
  return store.find(v2Rollups, {
    filter: { chainId, poolAddress: { in: pools }, span, start: { gte: start, lt: end } },
  });
}

export function getLargeSwaps(
  store: Store,
  { hours, chainId }: { chainId: number; hours: readonly { poolAddress: string; start: number }[] },
): Promise<V2LargeSwapsRow[]> {
  return store.getMany(
    v2LargeSwaps,
    hours.map((hour) => ({ chainId, ...hour })),
  );
}

const NUMBER_FIELDS = [
  "poolAddress",
  "start",
  "swapCount",
  "unpricedCount",
  "zeroForOneUsd",
  "oneForZeroUsd",
  "feesUsd",
] as const;
export type V2NumbersRow = Pick<V2RollupRow, (typeof NUMBER_FIELDS)[number]>;

/** The same without the raw amounts, which cost as much to read as the rest. */
export function findV2Numbers(
  store: Store,
  {
    chainId,
    pools,
    span,
    start,
    end,
  }: { chainId: number; pools: readonly string[]; span: number } & TimeSpan,
): Promise<V2NumbersRow[]> {
  return store.find(v2Rollups, {
    filter: { chainId, poolAddress: { in: pools }, span, start: { gte: start, lt: end } },
    fields: NUMBER_FIELDS,
  });
}

/** The largest swaps of a pool's hours that start in [start, end), oldest first. */
export function findLargeSwaps(
  store: Store,
  { chainId, poolAddress, start, end }: { chainId: number; poolAddress: string } & TimeSpan,
): Promise<V2LargeSwapsRow[]> {
  return store.find(v2LargeSwaps, { filter: { chainId, poolAddress, start: { gte: start, lt: end } } });
}

export function getPositions(
  store: Store,
  { positions, chainId }: { chainId: number; positions: readonly { wallet: string; poolAddress: string }[] },
): Promise<LpPositionRow[]> {
  return store.getMany(
    lpPositions,
    positions.map((position) => ({ chainId, ...position })),
  );
}

/** All positions of a wallet, by pool. */
export function findPositions(
  store: Store,
  { chainId, wallet }: { chainId: number; wallet: string },
): Promise<LpPositionRow[]> {
  return store.find(lpPositions, { filter: { chainId, wallet } });
}

const POSITION_FIELDS = ["poolAddress", "position", "anchor", "firstTime", "lastTime", "lastBlock"] as const;
export type PositionNumbers = Pick<LpPositionRow, (typeof POSITION_FIELDS)[number]>;

/** A page of the same, without what a caller knows already: less than half the cost. */
export function findPositionNumbers(
  store: Store,
  { chainId, wallet, after, limit }: { chainId: number; wallet: string; after: string; limit: number },
): Promise<PositionNumbers[]> {
  return store.find(lpPositions, {
    filter: { chainId, wallet, poolAddress: { gt: after } },
    fields: POSITION_FIELDS,
    limit,
  });
}

/** Some of a wallet's positions; those without an indexed event are left out. */
export function getPositionNumbers(
  store: Store,
  { chainId, wallet, pools }: { chainId: number; wallet: string; pools: readonly string[] },
): Promise<PositionNumbers[]> {
  return store.getMany(
    lpPositions,
    pools.map((poolAddress) => ({ chainId, wallet, poolAddress })),
  );
}

/** Events of some of a wallet's positions in [since, until), in the order of the chain. */
export function findLpEvents(
  store: Store,
  {
    chainId,
    wallet,
    pools,
    since,
    until,
    limit,
  }: {
    chainId: number;
    wallet: string;
    pools: readonly string[];
    since: number;
    until: number;
    limit: number;
  },
): Promise<Pick<LpEventRow, "poolAddress" | "time" | "position">[]> {
  return store.find(lpEvents, {
    filter: { chainId, wallet, poolAddress: { in: pools }, time: { gte: since, lt: until } },
    via: ["chainId", "wallet", "poolAddress", "time", "blockNumber", "logIndex"],
    fields: ["poolAddress", "time", "position"],
    limit,
  });
}

/** The last event of a position up to a block, which carries the position there. */
export async function lastLpEventUpTo(
  store: Store,
  {
    chainId,
    wallet,
    poolAddress,
    block,
    time,
  }: { chainId: number; wallet: string; poolAddress: string; block: number; time: number },
): Promise<LpEventRow | undefined> {
  const [row] = await store.find(lpEvents, {
    filter: { chainId, wallet, poolAddress, time: { lte: time }, blockNumber: { lte: block } },
    order: NEWEST_FIRST,
    limit: 1,
  });
  return row;
}

/** The last event of a position before a second, which carries the position then. */
export async function lastLpEventBefore(
  store: Store,
  {
    chainId,
    wallet,
    poolAddress,
    time,
  }: { chainId: number; wallet: string; poolAddress: string; time: number },
): Promise<LpEventRow | undefined> {
  const [row] = await store.find(lpEvents, {
    filter: { chainId, wallet, poolAddress, time: { lt: time } },
    order: NEWEST_FIRST,
    limit: 1,
  });
  return row;
}
