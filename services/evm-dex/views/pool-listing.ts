import { formatDateTime, toCells } from "../../shared/contract/cells.ts";
import { toRowText } from "../../shared/contract/render-table.ts";
import { poolListColumns } from "../endpoints/pool-list-columns.ts";
import type { PoolListingRow, PoolRow } from "../store/collections.ts";

/** The lists of all families have the same columns. */
const LIST = { path: "a pool list", columns: poolListColumns } as const;

/** Listings of pools by address: writes then pass each index of a column with few values once, in order. */
export function toListings(rows: readonly PoolRow[]): PoolListingRow[] {
  return [...rows].sort((a, b) => (a.poolAddress < b.poolAddress ? -1 : 1)).map(toListing);
}

/** A pool's row in the pool lists: its order columns, and its rendered row. */
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
