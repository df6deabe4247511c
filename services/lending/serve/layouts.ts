import type { MarketRow, OraclePrice, TokenRef, VaultMarketRow, VaultRow } from "../protocols/rows.ts";
import type { PriceTable } from "./price-table.ts";
import { byText, layoutOf, type ReadColumns } from "./row-columns.ts";

/** What stands for the curator of a vault that has none. */
export const NO_CURATOR = "";
/** The unit of no oracle. */
const NO_UNIT = "";

const oracle = {
  texts: { oracleUnit: (row: { oracle: OraclePrice | null }) => row.oracle?.unit ?? NO_UNIT },
  numbers: { oracle: (row: { oracle: OraclePrice | null }) => row.oracle?.value ?? null },
};

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
    ...oracle.texts,
  },
  numbers: {
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
    ...oracle.numbers,
  },
});

export const MARKET_LAYOUT = layoutOf<MarketRow>()({
  texts: { ...pair, ...oracle.texts },
  numbers: {
    supply: (row) => row.supply,
    borrow: (row) => row.borrow,
    available: (row) => row.available,
    ...rates,
    ltv: (row) => row.ltv,
    ...oracle.numbers,
  },
});

export const VAULT_MARKET_LAYOUT = layoutOf<VaultMarketRow>()({
  texts: { vault: (row) => row.vaultAddress, ...pair, ...oracle.texts },
  numbers: {
    ...rates,
    ltv: (row) => row.ltv,
    allocation: (row) => row.allocation,
    allocationShare: (row) => row.allocationShare,
    supplyCap: (row) => row.supplyCap,
    ...oracle.numbers,
  },
});

type ColumnsOf<L> = L extends { texts: Record<infer T, unknown>; numbers: Record<infer N, unknown> }
  ? ReadColumns<T & string, N & string>
  : never;

export type VaultColumns = ColumnsOf<typeof VAULT_LAYOUT>;
export type MarketColumns = ColumnsOf<typeof MARKET_LAYOUT>;
export type VaultMarketColumns = ColumnsOf<typeof VAULT_MARKET_LAYOUT>;

/** USD for one whole token of each row: the walk's price, else its own oracle's; NaN where neither tells. */
export function usdOfRows(
  rows: VaultColumns | MarketColumns | VaultMarketColumns,
  prices: PriceTable,
): Float64Array {
  const usd = byText(rows.text("token"), (token) => prices.usdOf(token));
  const unitUsd = byText(rows.text("oracleUnit"), (unit) => prices.usdOfUnit(unit));
  const oracles = rows.number("oracle");
  for (let at = 0; at < usd.length; at++) {
    if (Number.isNaN(usd[at])) usd[at] = (oracles[at] as number) * (unitUsd[at] as number);
  }
  return usd;
}
