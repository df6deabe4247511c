import type { Column } from "../../shared/contract/column.ts";
import { sortable } from "../../shared/contract/define.ts";
import {
  EULER_BORROW_APY,
  EULER_MARKET_ID,
  EULER_SUPPLY_APY,
  listedColumn,
  MORPHO_BORROW_APY,
  MORPHO_MARKET_ID,
  MORPHO_SUPPLY_APY,
  marketPairColumns,
  priceColumns,
  protocolColumns,
  updatedAtColumn,
} from "./columns.ts";

interface Words {
  readonly marketId: string;
  readonly supplyApy: string;
  readonly borrowApy: string;
  readonly supplied: string;
  readonly available: string;
  readonly listed: string;
  /** What a sum of tvlUsd over the rows counts. */
  readonly total: string;
}

const EULER: Words = {
  marketId: EULER_MARKET_ID,
  supplyApy: EULER_SUPPLY_APY,
  borrowApy: EULER_BORROW_APY,
  supplied: "of the loan vault, which all its collaterals share",
  available: "cash of the loan vault, 0 while its governor has disabled withdrawing",
  listed: "Whether Euler lists the loan vault on the chain (see listed of the vaults).",
  total:
    "A vault with several collaterals is in a row for each, with the same assets: a total counts each loan vault (the first half of marketId) once, and vaults without a collateral are in the list of vaults alone.",
};

const MORPHO: Words = {
  marketId: MORPHO_MARKET_ID,
  supplyApy: MORPHO_SUPPLY_APY,
  borrowApy: MORPHO_BORROW_APY,
  supplied: "of the market",
  available: "totalSupplyAssets − totalBorrowAssets of the market",
  listed: "Whether a vault that Morpho lists has the market in its withdraw queue.",
  total: "Every token is in one row: the rows add up to the protocol's total, vaults' assets included.",
};

function head(words: Words) {
  return [
    ...protocolColumns,
    { name: "marketId", type: "String", description: words.marketId },
    ...marketPairColumns,
  ] as const satisfies readonly Column[];
}

function amounts(words: Words) {
  return [
    {
      name: "supplyUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: `Assets supplied ${words.supplied} × price of the loan token; null without a price.`,
    },
    {
      name: "borrowUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: `Assets borrowed ${words.supplied} × price of the loan token; null without a price.`,
    },
    {
      name: "tvlUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: `Total value locked: equal to supplyUsd. ${words.total}`,
    },
    {
      name: "availableLiquidityUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: `What suppliers could withdraw now, whatever may be borrowed: ${words.available} × price of the loan token; null without a price.`,
    },
  ] as const satisfies readonly Column[];
}

function rates(words: Words) {
  return [
    {
      name: "supplyApy",
      type: "Nullable(Float64)",
      unit: "fraction",
      description: `${words.supplyApy}; null while a rate is unknown.`,
    },
    {
      name: "borrowApy",
      type: "Nullable(Float64)",
      unit: "fraction",
      description: `${words.borrowApy}; null while a rate is unknown.`,
    },
    {
      name: "utilizationRate",
      type: "Float64",
      unit: "fraction",
      description: "borrowed / supplied; 0 when empty.",
    },
  ] as const satisfies readonly Column[];
}

const eulerLtv = [
  {
    name: "ltv",
    type: "Float64",
    unit: "fraction",
    description:
      "Borrow LTV of the collateral in the loan vault, in 1e4 on chain (Euler Vault Kit). A change holds at once: only the liquidation LTV is ramped down. A collateral whose borrow LTV is 0 makes no market.",
  },
] as const satisfies readonly Column[];

const morphoLltv = [
  {
    name: "lltv",
    type: "Float64",
    unit: "fraction",
    description: "Liquidation loan-to-value of the market, in 1e18 on chain (Morpho Blue market parameters).",
  },
] as const satisfies readonly Column[];

const allocation = [
  {
    name: "allocationUsd",
    type: "Nullable(Float64)",
    unit: "USD",
    description: "Assets the vault holds in the market × price of the loan token; null without a price.",
  },
  {
    name: "allocationShare",
    type: "Float64",
    unit: "fraction",
    description: "Assets the vault holds in the market / totalAssets of the vault; 0 for an empty vault.",
  },
] as const satisfies readonly Column[];

function capUsd(cap: string) {
  return [
    {
      name: "supplyCapUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: `${cap} × price of the loan token; null when uncapped or without a price.`,
    },
  ] as const satisfies readonly Column[];
}

function withPrice<const C extends readonly Column[]>(columns: C) {
  return [...sortable(columns), ...priceColumns] as const;
}

export const eulerMarketColumns = [
  ...withPrice([...head(EULER), ...amounts(EULER), ...rates(EULER), ...eulerLtv, ...updatedAtColumn]),
  ...listedColumn(EULER.listed),
] as const;

export const morphoMarketColumns = [
  ...withPrice([...head(MORPHO), ...amounts(MORPHO), ...rates(MORPHO), ...morphoLltv, ...updatedAtColumn]),
  ...listedColumn(MORPHO.listed),
] as const;

export const eulerVaultMarketColumns = withPrice([
  ...head(EULER),
  ...rates(EULER),
  ...eulerLtv,
  ...capUsd("Supply cap of the loan vault (of an EulerEarn vault its own cap for it)"),
  ...updatedAtColumn,
]);

export const morphoVaultMarketColumns = withPrice([
  ...head(MORPHO),
  ...rates(MORPHO),
  ...morphoLltv,
  ...allocation,
  ...capUsd("The vault's supply cap for the market (2^128 − 1 raw units or more: uncapped)"),
  ...updatedAtColumn,
]);
