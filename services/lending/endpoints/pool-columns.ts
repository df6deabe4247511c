import type { Column } from "../../shared/contract/column.ts";
import { sortable } from "../../shared/contract/define.ts";
import {
  AAVE_BORROW_APY,
  AAVE_SUPPLY_APY,
  curatorColumns,
  EULER_BORROW_APY,
  EULER_LISTED,
  EULER_SUPPLY_APY,
  listedColumn,
  MORPHO_LISTED,
  MORPHO_SUPPLY_APY,
  priceColumns,
  protocolColumns,
  updatedAtColumn,
} from "./columns.ts";

/** How a protocol's numbers come about; the words differ between protocols, the columns do not. */
interface Words {
  /** What `poolAddress` or `vaultAddress` holds. */
  readonly address: string;
  readonly supplyApy: string;
  readonly borrowApy: string;
  readonly supply: string;
  readonly borrow: string;
  readonly supplyCap: string;
  readonly utilizationRate: string;
  readonly ltv: string;
  readonly available: string;
  /** When `borrowable` and `depositEnabled` are true. */
  readonly borrowable: string;
  readonly depositEnabled: string;
  readonly listed: string;
  /** What a sum of tvlUsd over the rows counts. */
  readonly total: string;
}

function unitColumns(words: Words) {
  return [
    { name: "symbol", type: "String", description: "Symbol of the share token (on Aave the aToken)." },
    { name: "vaultName", type: "String", description: "Name of the share token (on Aave the aToken)." },
    { name: "underlyingAddress", type: "String", description: "Address of the token that is supplied." },
    { name: "underlyingSymbol", type: "String", description: "Symbol of the token that is supplied." },
    {
      name: "supply",
      type: "Float64",
      unit: "token units",
      description: `${words.supply}, accrued interest included.`,
    },
    {
      name: "supplyUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: "supply × price of the underlying token; null without a price.",
    },
    {
      name: "borrow",
      type: "Float64",
      unit: "token units",
      description: `${words.borrow}, accrued interest included.`,
    },
    {
      name: "borrowUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: "borrow × price of the underlying token; null without a price.",
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
      description: `What suppliers of the row could withdraw now, whatever may be borrowed: ${words.available} × price of the underlying token; null without a price.`,
    },
    {
      name: "supplyCap",
      type: "Nullable(Float64)",
      unit: "token units",
      description: `${words.supplyCap}; null when uncapped.`,
    },
    {
      name: "supplyCapUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: "supplyCap × price of the underlying token; null when uncapped or without a price.",
    },
    {
      name: "borrowCap",
      type: "Nullable(Float64)",
      unit: "token units",
      description: "Most tokens that may be borrowed; null when uncapped.",
    },
    {
      name: "borrowCapUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: "borrowCap × price of the underlying token; null when uncapped or without a price.",
    },
    {
      name: "remainingCapacityUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description:
        "max(supplyCap − supply, 0) × price of the underlying token; null when uncapped or without a price.",
    },
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
      name: "netSupplyApy",
      type: "Nullable(Float64)",
      unit: "fraction",
      description: "supplyApy × (1 − performanceFee) − managementFee; null while supplyApy is.",
    },
    {
      name: "performanceFee",
      type: "Float64",
      unit: "fraction",
      description:
        "Share of the yield the vault keeps after supplyApy; 0 where the protocol takes none there.",
    },
    {
      name: "managementFee",
      type: "Float64",
      unit: "fraction per year",
      description: "Share of the assets the vault keeps in a year; 0 where the protocol takes none.",
    },
    {
      name: "utilizationRate",
      type: "Float64",
      unit: "fraction",
      description: `${words.utilizationRate}; 0 when empty.`,
    },
    { name: "ltv", type: "Nullable(Float64)", unit: "fraction", description: words.ltv },
    {
      name: "borrowable",
      type: "Bool",
      description: `True while an account without special rights, with enough collateral, could borrow of what the row has supplied: ${words.borrowable}.`,
    },
    {
      name: "depositEnabled",
      type: "Bool",
      description: `True while a deposit of an account without special rights would be accepted: ${words.depositEnabled}.`,
    },
    ...updatedAtColumn,
  ] as const satisfies readonly Column[];
}

/** Where a row is one pot of tokens. */
const ONE_POT = {
  supply: "Tokens supplied",
  borrow: "Tokens borrowed",
  supplyCap: "Most tokens that may be supplied",
};

const AAVE: Words = {
  ...ONE_POT,
  listed: "Always true: the markets are Aave's own, by their address providers in the deployments.",
  total: "Every token is in one row: the rows add up to the protocol's total.",
  address: "Address of the Aave Pool contract (the market); a row is one of its reserves.",
  supplyApy: AAVE_SUPPLY_APY,
  borrowApy: AAVE_BORROW_APY,
  utilizationRate: "debt / (debt + liquidity the Pool has for the reserve)",
  ltv: "Loan-to-value of the token as collateral outside of efficiency modes (reserve configuration); of a token that is collateral in efficiency modes only (v3.6 and later), the highest of those modes; null when it cannot be collateral at all.",
  available: "liquidity the Pool has for the reserve, 0 while it is paused or inactive",
  borrowable:
    "the reserve is active, neither frozen nor paused, has liquidity (GHO up to v3.3: room in its bucket), debt below borrowCap, borrowing is enabled, since v3.6 be it in an efficiency mode only, and the market's price oracle sentinel, which v3.7 has no more, allows loans; a debt ceiling, siloed borrowing and other limits of an account's own position do not count",
  depositEnabled:
    "the reserve is active, neither frozen nor paused, and its supply, with what the treasury has yet to mint, is below supplyCap; false for GHO up to v3.3",
};

const EULER: Words = {
  listed: EULER_LISTED,
  total:
    "EVK vaults add up to the protocol's total; an EulerEarn vault's assets are in EVK vaults and counted there, too.",
  address: "Address of the vault.",
  supplyApy: `EVK vault: ${EULER_SUPPLY_APY}; EulerEarn vault: sum of its strategies' supplyApy (of an EulerEarn vault among them after its fee) × assets in them / totalAssets`,
  borrowApy: `EVK vault: ${EULER_BORROW_APY}; EulerEarn vault: mean of its strategies' borrowApy weighted by the assets in them`,
  supply:
    "Tokens supplied: totalAssets() of the vault (of an EulerEarn vault with losses that are not made good, of one from before August 2025 with harvested yield as it is handed out)",
  borrow:
    "Tokens borrowed; of an EulerEarn vault the sum over its strategies of assets in it × borrowed / supplied there",
  supplyCap:
    "Most tokens that may be supplied; of an EulerEarn vault totalAssets() + maxDeposit(): what it has, and what the strategies of its supply queue still take; uncapped where neither a cap of the vault nor one of a strategy binds",
  utilizationRate: "borrow / supply",
  ltv: "Highest borrow LTV among the vault's collaterals, of an EulerEarn vault among its strategies'; null without any. A change holds at once: EVK ramps down the liquidation LTV alone.",
  available:
    "cash of the vault, 0 while its governor has disabled withdrawing, or, of an EulerEarn vault, the sum over its strategies of min(assets in it, what could be withdrawn there), with its own cash if it is from before August 2025",
  borrowable:
    "the vault has an oracle, a collateral with a borrow LTV, cash, and borrows below borrowCap, and no hook refuses (one without a target always does, one with a target is tried when the vault is read; that of the vault's status check counts, too); of an EulerEarn vault, a strategy with assets of it is borrowable",
  depositEnabled:
    "supply is below supplyCap and no hook refuses (as for borrowable); of an EulerEarn vault, a strategy of its supply queue has room",
};

const MORPHO: Words = {
  listed: MORPHO_LISTED,
  total:
    "Each vault's assets are in one row; the protocol's total is that of the markets, where others supply as well.",
  address: "Address of the vault.",
  supplyApy: `Sum over its markets of (${MORPHO_SUPPLY_APY}) × assets in the market / totalAssets`,
  borrowApy: "Mean of its markets' borrowApy weighted by the vault's assets in each",
  supply: "Tokens supplied: totalAssets() of the vault (in v1.1 with what its markets have lost)",
  borrow: "Sum over its markets of assets in the market × borrowed / supplied there",
  supplyCap:
    "totalAssets + maxDeposit(): what the vault has, and what the markets of its supply queue still take below its caps; uncapped where one of these is 2^128 − 1 raw units or more",
  utilizationRate: "Share of the vault's assets that is lent out: borrow / supply",
  ltv: "Highest LLTV among the vault's enabled markets that lend against a collateral; null without any.",
  available: "Sum over its markets of min(assets in the market, liquidity of the market)",
  borrowable:
    "a market that lends against a collateral and has assets of the vault has liquidity, and its interest rate model answers",
  depositEnabled: "a market of the supply queue has room below its cap: maxDeposit() is above 0",
};

function poolColumns(words: Words) {
  return [
    ...sortable([
      ...protocolColumns,
      { name: "poolAddress", type: "String", description: words.address },
      ...unitColumns(words),
    ]),
    ...priceColumns,
    ...listedColumn(words.listed),
  ] as const;
}

function vaultColumns(words: Words) {
  return [
    ...sortable([
      ...protocolColumns,
      { name: "vaultAddress", type: "String", description: words.address },
      ...unitColumns(words),
    ]),
    ...priceColumns,
    ...listedColumn(words.listed),
  ] as const;
}

function curatorVaultColumns(words: Words) {
  return [
    ...sortable([
      ...protocolColumns,
      ...curatorColumns,
      { name: "poolAddress", type: "String", description: words.address },
      ...unitColumns(words),
    ]),
    ...priceColumns,
    ...listedColumn(words.listed),
  ] as const;
}

export const aavePoolColumns = poolColumns(AAVE);
export const eulerVaultColumns = vaultColumns(EULER);
export const eulerCuratorVaultColumns = curatorVaultColumns(EULER);
export const morphoVaultColumns = vaultColumns(MORPHO);
export const morphoCuratorVaultColumns = curatorVaultColumns(MORPHO);
