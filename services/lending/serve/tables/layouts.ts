import type { MarketRow, TokenRef, VaultMarketRow, VaultRow } from "../../protocols/rows.ts";
import { layoutOf, mapTexts, type ReadColumns } from "../columns/row-columns.ts";
import type { PriceTable } from "../prices/price-table.ts";

/** The stored curator of a vault without one. */
export const NO_CURATOR = "";
interface Rated {
  readonly supplyApy: number | null;
  readonly borrowApy: number | null;
  readonly utilizationRate: number;
}

const rates = {
  supplyApy: (row: Rated) => row.supplyApy,
  borrowApy: (row: Rated) => row.borrowApy,
  utilizationRate: (row: Rated) => row.utilizationRate,
};

interface Paired {
  readonly marketId: string;
  readonly loan: TokenRef;
  readonly collateral: TokenRef;
}

const pair = {
  marketId: (row: Paired) => row.marketId,
  /** The token that amounts are in. */
  token: (row: Paired) => row.loan.address,
  loanSymbol: (row: Paired) => row.loan.symbol,
  collateral: (row: Paired) => row.collateral.address,
  collateralSymbol: (row: Paired) => row.collateral.symbol,
};

export const VAULT_LAYOUT = layoutOf<VaultRow>()({
  texts: {
    address: (row) => row.address,
    curator: (row) => row.curator ?? NO_CURATOR,
    symbol: (row) => row.symbol,
    vaultName: (row) => row.vaultName,
    token: (row) => row.underlying.address,
    tokenSymbol: (row) => row.underlying.symbol,
  },
  numbers: {
    listed: (row) => row.listed,
    isOfCurator: (row) => row.isOfCurator,
    supply: (row) => row.supply,
    borrow: (row) => row.borrow,
    available: (row) => row.available,
    supplyCap: (row) => row.supplyCap,
    borrowCap: (row) => row.borrowCap,
    ...rates,
    performanceFee: (row) => row.performanceFee,
    managementFee: (row) => row.managementFee,
    ltv: (row) => row.ltv,
    borrowable: (row) => row.borrowable,
    depositEnabled: (row) => row.depositEnabled,
  },
});

export const MARKET_LAYOUT = layoutOf<MarketRow>()({
  texts: pair,
  numbers: {
    listed: (row) => row.listed,
    supply: (row) => row.supply,
    borrow: (row) => row.borrow,
    available: (row) => row.available,
    ...rates,
    ltv: (row) => row.ltv,
  },
});

export const VAULT_MARKET_LAYOUT = layoutOf<VaultMarketRow>()({
  texts: { vault: (row) => row.vaultAddress, ...pair },
  numbers: {
    ...rates,
    ltv: (row) => row.ltv,
    allocation: (row) => row.allocation,
    allocationShare: (row) => row.allocationShare,
    supplyCap: (row) => row.supplyCap,
  },
});

type ColumnsOf<L> = L extends { texts: Record<infer T, unknown>; numbers: Record<infer N, unknown> }
  ? ReadColumns<T & string, N & string>
  : never;

export type VaultColumns = ColumnsOf<typeof VAULT_LAYOUT>;
export type MarketColumns = ColumnsOf<typeof MARKET_LAYOUT>;
export type VaultMarketColumns = ColumnsOf<typeof VAULT_MARKET_LAYOUT>;

/** The USD price of each row's token; NaN without one. */
export function tokenPricesUsd(
  rows: VaultColumns | MarketColumns | VaultMarketColumns,
  prices: PriceTable,
): Float64Array {
  return mapTexts(rows.text("token"), (token) => prices.usdOf(token));
}
