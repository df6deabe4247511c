import type { MarketRow, OraclePrice, TokenRef, VaultMarketRow, VaultRow } from "../../protocols/rows.ts";
import { layoutOf, mapTexts, type ReadColumns } from "../columns/row-columns.ts";
import type { PriceTable } from "../prices/price-table.ts";

/** The stored curator of a vault without one. */
export const NO_CURATOR = "";
/** The oracle unit of a row without an oracle price. */
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
    ...oracle.numbers,
  },
});

export const MARKET_LAYOUT = layoutOf<MarketRow>()({
  texts: { ...pair, ...oracle.texts },
  numbers: {
    listed: (row) => row.listed,
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

/** The USD price of each row's token: of the price walk, else of the row's own oracle, in USD or in a token that the walk prices; NaN without either. */
export function tokenPricesUsd(
  rows: VaultColumns | MarketColumns | VaultMarketColumns,
  prices: PriceTable,
): Float64Array {
  const usd = mapTexts(rows.text("token"), (token) => prices.usdOf(token));
  const unitUsd = mapTexts(rows.text("oracleUnit"), (unit) => prices.usdOfUnit(unit));
  const oracles = rows.number("oracle");
  for (let at = 0; at < usd.length; at++) {
    if (Number.isNaN(usd[at])) usd[at] = (oracles[at] as number) * (unitUsd[at] as number);
  }
  return usd;
}
