import { defineColumns } from "../../shared/contract/define.ts";

const PRICE_RULE = "as its trade paid it; of liquidity the median of the token's pools by depth and age";

/** Trade columns of the two specified transaction lists: the specification fixes their type strings, so that a null stands under a type without Nullable. */
export const specifiedValueColumns = defineColumns([
  {
    name: "valueUSD",
    type: "Float64",
    nullable: true,
    unit: "USD",
    description:
      "USD value of the transaction at its slot, no more than what supports both tokens' prices; null while no price is known.",
  },
  {
    name: "priceUSD",
    type: "Float64",
    nullable: true,
    unit: "USD per token",
    description: `USD price of one token (of a multiplied one, see uiAmountMultiplier of tokens/security) at the time of the transaction, ${PRICE_RULE}; null while none is known.`,
  },
  {
    name: "dex",
    type: "String",
    description: "Exchange where it occurred: raydium, orca, meteora or pumpfun.",
  },
  { name: "poolAddress", type: "String", description: "Address of the liquidity pool used." },
]);

/** What amounts mean, in the specified lists. */
export const TOKEN_AMOUNT =
  "of the pool's side: what its vaults received or paid. Fees that stay in the pool are within; those that Pump.fun and PumpSwap pay past it are not in what goes in and are in what comes out, so that the wallet paid or got up to some 1.25 % more or less.";

/** What the lists of trades do not have. */
export const COVERED_PROGRAMS =
  "Covered programs: Raydium AMM v4, CPMM, CLMM and LaunchLab; Orca Whirlpool; Meteora DLMM, DAMM v1, DAMM v2 and DBC; Pump.fun and PumpSwap. Orca's token swaps v1 and v2, Raydium's stable swap, Mercurial and all other exchanges, market makers' programs (SolFi, HumidiFi …) and order books among them, give no rows; the header X-Data-Swap-Share says which share of the cluster's swaps the covered ones were.";

/** A row of the pool transaction lists. */
export const poolTransactionColumns = defineColumns([
  { name: "signature", type: "String", description: "Signature of the transaction." },
  { name: "slot", type: "UInt64", description: "Slot of the transaction." },
  { name: "txType", type: "String", description: "trade, add_liquidity or remove_liquidity." },
  {
    name: "amountIn",
    type: "Float64",
    unit: "token units",
    description:
      "Trade: amount that went into the pool, as its vaults received it: with the fees that stay in the pool, without those paid past it (Pump.fun and PumpSwap take theirs so: the wallet paid more); liquidity: amount of the pool's first token that moved; times its mint's multiplier at the head (uiAmountMultiplier of tokens/security).",
  },
  {
    name: "amountOut",
    type: "Float64",
    unit: "token units",
    description:
      "Trade: amount that left the pool's vaults: what Pump.fun and PumpSwap take of it as a fee is within (the wallet got 0.1 to 1.25 % less); liquidity: amount of the pool's second token that moved; times its mint's multiplier at the head (uiAmountMultiplier of tokens/security).",
  },
  { name: "tokenInAddress", type: "String", description: "Mint of amountIn." },
  {
    name: "tokenInSymbol",
    type: "String",
    description: "Symbol of amountIn's token; empty where it has none.",
  },
  { name: "tokenOutAddress", type: "String", description: "Mint of amountOut." },
  {
    name: "tokenOutSymbol",
    type: "String",
    description: "Symbol of amountOut's token; empty where it has none.",
  },
  {
    name: "valueUSD",
    type: "Nullable(Float64)",
    unit: "USD",
    description:
      "Trade: USD value of the token with the deeper pools, no more than what supports both tokens' prices; liquidity: the sides' sum, null unless both are priced.",
  },
  { name: "dex", type: "String", description: "Exchange of the pool: raydium, orca, meteora or pumpfun." },
  { name: "blockTime", type: "UInt32", unit: "Unix seconds", description: "Time of the slot's block." },
  {
    name: "instructionIndex",
    type: "UInt32",
    description:
      "Index of the instruction within the transaction: top-level and inner instructions counted together from 0, in the order of execution.",
  },
]);
