import type { OrderTerm } from "../../shared/contract/order.ts";
import type { MarketRow, VaultRow } from "../protocols/rows.ts";
import type { RowObject } from "./answers.ts";

/** Lists by the plainest means: every row as an object, filtered, sorted and cut. Shares nothing with serving. */

type Prices = Readonly<Record<string, number>>;

function priceOf(row: VaultRow | MarketRow, prices: Prices): number | null {
  const token = row.table === "vault" ? row.underlying : row.loan;
  return prices[token.address] ?? null;
}

/** As in the tests' table of prices. */
const sourceOf = (usd: number | null) => ({
  ...{ priceSource: usd === null ? "" : "dex", priceAgeSeconds: usd === null ? null : 0 },
});

const times = (amount: number | null, usd: number | null) =>
  amount === null || usd === null ? null : amount * usd;

export function referenceVault(row: VaultRow, prices: Prices): RowObject {
  const usd = priceOf(row, prices);
  const left = row.supplyCap === null ? null : Math.max(0, row.supplyCap - row.supply);
  const net = row.supplyApy === null ? null : row.supplyApy * (1 - row.performanceFee) - row.managementFee;
  return {
    ...{ chainId: 8453, protocolId: row.protocolId, vaultAddress: row.address, poolAddress: row.address },
    ...{ symbol: row.symbol, vaultName: row.vaultName },
    ...{ underlyingAddress: row.underlying.address, underlyingSymbol: row.underlying.symbol },
    ...{ supply: row.supply, supplyUsd: times(row.supply, usd) },
    ...{ borrow: row.borrow, borrowUsd: times(row.borrow, usd), tvlUsd: times(row.supply, usd) },
    availableLiquidityUsd: times(row.available, usd),
    ...{ supplyCap: row.supplyCap, supplyCapUsd: times(row.supplyCap, usd) },
    ...{ borrowCap: row.borrowCap, borrowCapUsd: times(row.borrowCap, usd) },
    remainingCapacityUsd: times(left, usd),
    ...{ supplyApy: row.supplyApy, borrowApy: row.borrowApy, netSupplyApy: net },
    ...{ performanceFee: row.performanceFee, managementFee: row.managementFee },
    ...{ utilizationRate: row.utilizationRate, ltv: row.ltv },
    ...{ borrowable: row.borrowable, depositEnabled: row.depositEnabled, listed: row.listed },
    ...sourceOf(usd),
  };
}

export function referenceMarket(row: MarketRow, prices: Prices): RowObject {
  const usd = priceOf(row, prices);
  return {
    ...{ chainId: 8453, protocolId: row.protocolId, marketId: row.marketId },
    ...{ loanAddress: row.loan.address, loanSymbol: row.loan.symbol },
    ...{ collateralAddress: row.collateral.address, collateralSymbol: row.collateral.symbol },
    ...{ supplyUsd: times(row.supply, usd), borrowUsd: times(row.borrow, usd) },
    ...{ tvlUsd: times(row.supply, usd), availableLiquidityUsd: times(row.available, usd) },
    ...{ supplyApy: row.supplyApy, borrowApy: row.borrowApy, utilizationRate: row.utilizationRate },
    ...{ ltv: row.ltv, lltv: row.ltv, listed: row.listed, ...sourceOf(usd) },
  };
}

/** Nulls last either way, then every further term. */
export function compareRows(terms: readonly OrderTerm[]): (a: RowObject, b: RowObject) => number {
  return (a, b) => terms.map((term) => compareBy(term, a, b)).find((sign) => sign !== 0) ?? 0;
}

function compareBy({ field, direction }: OrderTerm, a: RowObject, b: RowObject): number {
  const [x, y] = [a[field], b[field]] as [string | number | boolean | null, string | number | boolean | null];
  if (x === null || y === null) return Number(x === null) - Number(y === null);
  const sign = x === y ? 0 : x < y ? -1 : 1;
  return direction === "asc" ? sign : -sign;
}

/** The last terms of every order, so that no two rows tie. */
export function defaultOrder(...unique: readonly string[]): OrderTerm[] {
  return [
    { field: "tvlUsd", direction: "desc" },
    ...unique.map((field): OrderTerm => ({ field, direction: "asc" })),
  ];
}
