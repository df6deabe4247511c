import { defineColumns } from "../../shared/contract/define.ts";

/** Identity and TVL of a V2 pool: the first columns of its list and of its single answer. */
export const v2PoolIdentity = defineColumns([
  { name: "poolId", type: "String", description: "Address of the pool." },
  { name: "token0", type: "String", description: "Address of token0, the numerically lower of the two." },
  { name: "token0Symbol", type: "String", description: "Symbol of token0 as its contract states it." },
  { name: "token0Decimals", type: "UInt8", description: "Decimals of token0." },
  { name: "token1", type: "String", description: "Address of token1." },
  { name: "token1Symbol", type: "String", description: "Symbol of token1 as its contract states it." },
  { name: "token1Decimals", type: "UInt8", description: "Decimals of token1." },
  {
    name: "poolTvlUsd",
    type: "Nullable(Float64)",
    unit: "USD",
    description: "reserve0 × price0 + reserve1 × price1 at the indexed head; null while one has no price.",
  },
]);

/** Volume and fees every V2 answer shares. Null also where a window reaches back before the first indexed block. */
export const v2PoolActivity = defineColumns([
  {
    name: "volume24hUsd",
    type: "Nullable(Float64)",
    unit: "USD",
    description:
      "Swap volume of the 24 hours up to the indexed head, each swap at its block's prices; null while a price or coverage is missing.",
  },
  {
    name: "volume7dUsd",
    type: "Nullable(Float64)",
    unit: "USD",
    description:
      "Swap volume of the previous 7 completed UTC days; null while a price or coverage is missing.",
  },
  {
    name: "fees7dUsd",
    type: "Nullable(Float64)",
    unit: "USD",
    description:
      "Swap fees of the previous 7 completed UTC days (the pool's Fees events); null while a price or coverage is missing.",
  },
]);

export const SWAP_FEE_APR = "fees in USD of those days / number of days × 365 / poolTvlUsd";
export const REWARD_APR =
  "rewardRate × 31,536,000 × price of the reward token / USD value staked in the gauge, while the reward period runs; 0 without a gauge, null while a price is missing";
