import type { Store } from "../../shared/storage/port.ts";
import {
  type InactivePoolRow,
  inactivePools,
  type PoolFeeRow,
  type PoolRow,
  type PoolStateRow,
  poolFees,
  poolStates,
  pools,
} from "./collections.ts";

/** Fees that are read at one head, those of the newest blocks first: after an absence all are due. */
export const FEES_A_HEAD = 1_000;

/** Pools with a stored fee, and its block. */
export function listPoolFees(
  store: Store,
  chainId: number,
): Promise<Pick<PoolFeeRow, "poolAddress" | "block">[]> {
  return store.find(poolFees, { filter: { chainId }, fields: ["poolAddress", "block"] });
}

/**
 * Rows of a list that is read whole: all at once would take hundreds of megabytes that V8 never returns, and a page that is
 * long is copied by its collector before it is let go.
 */
const PAGE_ROWS = 1_000;

/** What prices need of a pool, and of its state; and the state's blocks. */
const POOL_FIELDS = [
  "poolAddress",
  "protocol",
  "token0Address",
  "token0Decimals",
  "token1Address",
  "token1Decimals",
  "stable",
  "createdAt",
] as const;
const STATE_FIELDS = ["poolAddress", "state", "lastBlock", "lastTime", "balanceBlock"] as const;

/** A pool, and its state if it has had events. */
export interface KnownPool {
  readonly row: Pick<PoolRow, (typeof POOL_FIELDS)[number]>;
  readonly state: Pick<PoolStateRow, (typeof STATE_FIELDS)[number]> | undefined;
}

/** Every pool of a chain, a page at a time, both collections in the order of their keys: no row is looked up. */
export async function* listKnownPools(
  store: Store,
  { chainId, pageSize = PAGE_ROWS }: { chainId: number; pageSize?: number },
): AsyncGenerator<KnownPool[]> {
  for (let last = ""; ; ) {
    const page = await store.find(pools, {
      filter: { chainId, poolAddress: { gt: last } },
      limit: pageSize,
      fields: POOL_FIELDS,
    });
    const end = page.at(-1)?.poolAddress;
    if (end === undefined) return;
    const states = await store.find(poolStates, {
      filter: { chainId, poolAddress: { gt: last, lte: end } },
      fields: STATE_FIELDS,
    });
    const stateOf = new Map(states.map((state) => [state.poolAddress, state]));
    yield page.map((row) => ({ row, state: stateOf.get(row.poolAddress) }));
    if (page.length < pageSize) return;
    last = end;
  }
}

/** Inactive pools that are in the price graph from the first block on, a page at a time. */
export async function* listPricedInactivePools(
  store: Store,
  chainId: number,
): AsyncGenerator<InactivePoolRow[]> {
  for (let last = ""; ; ) {
    const page = await store.find(inactivePools, {
      filter: { chainId, priced: true, poolAddress: { gt: last } },
      limit: PAGE_ROWS,
    });
    if (page.length > 0) yield page;
    if (page.length < PAGE_ROWS) return;
    last = page.at(-1)?.poolAddress as string;
  }
}

/** Of a page so many are looked at, whether they are yielded or not. */
const POOLS_A_LOOK = 500;

/** Addresses of the pools with an event since a second: those of each look, which may be none. */
export async function* listPoolsSince(
  store: Store,
  { chainId, time }: { chainId: number; time: number },
): AsyncGenerator<string[]> {
  for (let last = ""; ; ) {
    const page = await store.find(poolStates, {
      filter: { chainId, poolAddress: { gt: last } },
      limit: POOLS_A_LOOK,
      fields: ["poolAddress", "lastTime"],
    });
    yield page.filter(({ lastTime }) => lastTime >= time).map(({ poolAddress }) => poolAddress);
    if (page.length < POOLS_A_LOOK) return;
    last = page.at(-1)?.poolAddress as string;
  }
}

/** Pools of some kinds, in no particular order. */
export async function listPoolsOfKinds(
  store: Store,
  { chainId, kinds }: { chainId: number; kinds: readonly string[] },
): Promise<Pick<PoolRow, "poolAddress" | "protocol" | "createdBlock">[]> {
  return store.find(pools, {
    filter: { chainId, protocol: { in: kinds } },
    fields: ["poolAddress", "protocol", "createdBlock"],
  });
}
