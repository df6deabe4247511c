import { defineColumns } from "../../shared/contract/define.ts";

/** Which reserves V2 responses hold. */
export const V2_RESERVES =
  "after the last Sync event, or as read once where the pool is older than the index and has had no event since";

/** Which fee V2 responses hold. */
export const V2_FEE =
  "a custom fee by its event; else the factory's default by the pool's last swap, or as read from the factory where that is later (every 100 blocks, since no event shows its change)";

/** Identity and TVL of a V2 pool: the first columns of the list and of the single pool. */
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
    description: `reserve0 × price0 + reserve1 × price1 at the indexed head (reserves ${V2_RESERVES}); null while one has no price, or while such a pool is not read yet.`,
  },
]);

const WHERE_NULL =
  "null where one of the pool's tokens had no price at a swap's block, or where the window begins before the first indexed block and the pool is older than that";

/** Value of a swap in V2 responses. */
export const V2_SWAP_VALUE =
  "(|amount0| × price0 + |amount1| × price1) / 2 at the swap's block, amounts as the Swap event's in less out, fee included";

/** Volume and fees of all V2 pool tables. Null also where a window begins before the first indexed block. */
export const v2PoolActivity = defineColumns([
  {
    name: "volume24hUsd",
    type: "Nullable(Float64)",
    unit: "USD",
    description: `Sum over the swaps of 24 whole UTC hours, of which the last is the indexed head's own, still open (as in pool-volume): ${V2_SWAP_VALUE}; ${WHERE_NULL}.`,
  },
  {
    name: "volume7dUsd",
    type: "Nullable(Float64)",
    unit: "USD",
    description: `The same over the previous 7 completed UTC days; ${WHERE_NULL}.`,
  },
  {
    name: "fees7dUsd",
    type: "Nullable(Float64)",
    unit: "USD",
    description: `Swap fees of the previous 7 completed UTC days (the pool's Fees events, token0 × price0 + token1 × price1 at the event's block); ${WHERE_NULL}.`,
  },
]);

export const SWAP_FEE_APR =
  "fees in USD of those days / number of days × 365 / poolTvlUsd; null where one of them is, or nothing is locked";
export const REWARD_APR =
  "rewardRate × 31,536,000 × price of the reward token / USD value of the LP tokens staked in the gauge (staked / totalSupply × poolTvlUsd), at the indexed head; 0 without a gauge and once its reward period is over, null while a price is missing or nothing is staked";
