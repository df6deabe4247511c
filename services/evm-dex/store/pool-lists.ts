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

/** Pools with a stored fee, and its block. */
export function listPoolFees(
  store: Store,
  chainId: number,
): Promise<Pick<PoolFeeRow, "poolAddress" | "block">[]> {
  return store.find(poolFees, { filter: { chainId }, fields: ["poolAddress", "block"] });
}

/** Rows of a list that is read whole: all at once would take hundreds of megabytes that V8 never returns. */
const PAGE_ROWS = 5_000;

/** What prices need of a pool's state, and its blocks. */
const STATE_FIELDS = ["chainId", "poolAddress", "state", "lastBlock", "lastTime", "balanceBlock"] as const;

/** States of all pools with events but anchors and balances, a page at a time. */
export async function* listPoolStates(
  store: Store,
  { chainId, pageSize = PAGE_ROWS }: { chainId: number; pageSize?: number },
): AsyncGenerator<Pick<PoolStateRow, (typeof STATE_FIELDS)[number]>[]> {
  for (let last = ""; ; ) {
    const page = await store.find(poolStates, {
      filter: { chainId, poolAddress: { gt: last } },
      limit: pageSize,
      fields: STATE_FIELDS,
    });
    if (page.length > 0) yield page;
    if (page.length < pageSize) return;
    last = page.at(-1)?.poolAddress as string;
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

/** One text a pool, without looking its row up. */
const ADDRESSES_A_PAGE = 50_000;

/** Addresses of every pool of a chain by the kind of their protocol, a page at a time. */
export async function* listKnownPools(
  store: Store,
  {
    chainId,
    kinds,
    pageSize = ADDRESSES_A_PAGE,
  }: { chainId: number; kinds: readonly string[]; pageSize?: number },
): AsyncGenerator<{ kind: string; addresses: string[] }> {
  for (const kind of kinds) {
    for (let skip = 0; ; skip += pageSize) {
      const page = await store.find(pools, {
        filter: { chainId, protocol: kind },
        order: [
          { field: "createdAt", direction: "asc" },
          { field: "poolAddress", direction: "asc" },
        ],
        skip,
        limit: pageSize,
        fields: ["poolAddress"],
      });
      if (page.length > 0) yield { kind, addresses: page.map((row) => row.poolAddress) };
      if (page.length < pageSize) break;
    }
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
