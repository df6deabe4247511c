import { formatDateTime, toCells } from "../../shared/contract/cells.ts";
import { toRowText } from "../../shared/contract/render-table.ts";
import { poolListColumns } from "../endpoints/pool-list-columns.ts";
import type { PoolListingRow, PoolRow } from "../store/collections.ts";

/** The lists of all families have the same columns. */
const LIST = { path: "a pool list", columns: poolListColumns } as const;

/** Listings of pools by address: indexes of columns with few values are then gone through once, from end to end. */
export function toListings(rows: readonly PoolRow[]): PoolListingRow[] {
  return [...rows].sort((a, b) => (a.poolAddress < b.poolAddress ? -1 : 1)).map(toListing);
}

/** A pool as the pool lists have it: what they are ordered by, and its row ready to be sent. */
export function toListing(pool: PoolRow): PoolListingRow {
  const { chainId, dexAddress, dexName, poolAddress, createdAt, fee, tickSpacing } = pool;
  const { token0Address, token0Symbol, token0Decimals } = pool;
  const { token1Address, token1Symbol, token1Decimals } = pool;
  const columns = {
    chainId,
    dexAddress,
    dexName,
    poolAddress,
    token0Address,
    token0Symbol,
    token0Decimals,
    token1Address,
    token1Symbol,
    token1Decimals,
    createdAt,
    fee,
    tickSpacing,
  };
  const cells = toCells(LIST, { ...columns, createdAt: formatDateTime(createdAt) });
  return { ...columns, family: pool.family, cells: toRowText(LIST, cells) };
}
