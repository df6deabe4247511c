import { defineColumns } from "../../shared/contract/define.ts";

/** First columns of every lending row. */
export const protocolColumns = defineColumns([
  { name: "chainId", type: "UInt32", description: "Chain the row is on." },
  {
    name: "protocolId",
    type: "String",
    description: "Lending protocol and version: aave-v3, euler-v2 or morpho-v1.",
  },
]);

export const curatorColumns = defineColumns([
  {
    name: "curatorAddress",
    type: "String",
    description:
      "Account that curates: the vault's curator(), or its owner where none is set; of an EVK vault its governor, or the curator that a public list attributes the vault to.",
  },
  {
    name: "curatorName",
    type: "String",
    description: "Name of the curator in the curator registry; its address when it is not listed there.",
  },
]);

export const updatedAtColumn = defineColumns([
  { name: "updatedAt", type: "DateTime", description: "Time of the block that this row was made from." },
]);

/** Beyond the specification's columns: what the USD values of a row rest on. */
export const priceColumns = defineColumns([
  {
    name: "priceSource",
    type: "String",
    description:
      "Where the price behind the USD values is from: dex (price walk of evm-dex over pools), aave (oracle of an Aave market on the chain) or chainlink (a Chainlink feed), in this order; empty without a price. A token has one price in all rows of an answer; a vault's own oracle is never used.",
  },
  {
    name: "priceAgeSeconds",
    type: "Nullable(Float64)",
    unit: "seconds",
    description:
      "Age of the price at the row's block: 0 where it was read at that block; of a Chainlink feed the time since it was last told; null without a price.",
  },
]);

/** Last in every list, after what the specification orders by: an addition to it. */
export function listedColumn(description: string) {
  return defineColumns([{ name: "listed", type: "Bool", description }]);
}

export const EULER_LISTED =
  "Whether Euler lists the vault on the chain: its governed or ungoverned perspective, for EulerEarn its governed one; an escrow of the escrow perspective from when such a vault accepts it as collateral.";
export const MORPHO_LISTED =
  "Whether Morpho lists the vault, by its published list in the deployments (which names its source and date).";

/** The two tokens of a market. */
export const marketPairColumns = defineColumns([
  { name: "loanAddress", type: "String", description: "Address of the token that is lent." },
  { name: "loanSymbol", type: "String", description: "Symbol of the token that is lent." },
  {
    name: "collateralAddress",
    type: "String",
    description:
      "Address of the collateral token (on Euler the token that the collateral vault holds); the zero address on a market without collateral.",
  },
  {
    name: "collateralSymbol",
    type: "String",
    description: "Symbol of the collateral token; empty without collateral.",
  },
]);

export const EULER_MARKET_ID =
  "Identity of the market: <address of the loan vault>:<address of the collateral vault>.";
export const MORPHO_MARKET_ID = "Identity of the market: keccak256 of its market parameters (Morpho Blue).";

export const AAVE_SUPPLY_APY =
  "(1 + liquidityRate / 1e27 / 31,536,000)^31,536,000 − 1 (Aave v3 reserve data)";
export const AAVE_BORROW_APY =
  "(1 + variableBorrowRate / 1e27 / 31,536,000)^31,536,000 − 1 (Aave v3 reserve data)";
export const EULER_BORROW_APY = "(1 + SPY / 1e27)^31,556,952 − 1 (interest rate per second of the EVK vault)";
export const EULER_SUPPLY_APY =
  "borrowApy × borrows × (1 − interestFee) / (cash + borrows) (Euler Vault Kit)";
export const MORPHO_BORROW_APY =
  "exp(rate × 31,536,000) − 1, rate per second of the market's interest rate model just after accruing to now: 0 without a model, as last read of any but AdaptiveCurveIrm";
export const MORPHO_SUPPLY_APY =
  "exp(rate × utilizationRate × (1 − fee) × 31,536,000) − 1, after accruing to now";
