import { defineColumns } from "../../shared/contract/define.ts";
import { pairColumns } from "./pool-list-columns.ts";

const TIME_RANGES = ["5 minute", "1 hour", "1 day", "1 week", "1 month", "1 year"] as const;

export const poolCreatedAt = defineColumns([
  { name: "createdAt", type: "DateTime", description: "Time of the block that created the pool." },
]);

export const poolDexName = defineColumns([
  { name: "dexName", type: "String", description: "Name of the DEX, by the factory that created the pool." },
]);

/** Identity, state and TVL of a v3 pool at the indexed head. */
export const v3PoolState = defineColumns([
  ...pairColumns,
  {
    name: "feeTier",
    type: "UInt32",
    unit: "hundredths of a bip",
    description:
      "Swap fee in force: 500 is 0.05 %; on DEXes whose fees change by themselves the pool's fee() at its last event, or at most 1,800 blocks ago where that is later.",
  },
  { name: "tickSpacing", type: "Int32", unit: "ticks", description: "Distance between usable ticks." },
  {
    name: "currentLiquidity",
    type: "UInt128",
    description: "Liquidity L in range at the current tick, as a decimal string (the pool's liquidity()).",
  },
  {
    name: "currentSqrtPriceX96",
    type: "UInt256",
    description: "Square root of the raw price as a Q64.96 number, as a decimal string (slot0 of the pool).",
  },
  { name: "currentTick", type: "Int32", unit: "ticks", description: "Current tick (slot0 of the pool)." },
  {
    name: "currentPoolPrice",
    type: "Float64",
    unit: "token1 per token0",
    description:
      "(currentSqrtPriceX96 / 2^96)^2 × 10^(token0Decimals − token1Decimals) (Uniswap v3 whitepaper, 6.2).",
  },
  {
    name: "poolTvlUsd",
    type: "Nullable(Float64)",
    unit: "USD",
    description:
      "Token balances of the pool contract (balanceOf) × their USD prices at the head; null while one has no price. The balances are those of the pool's last event, or of at most 1,800 blocks ago where that is later: until then, tokens that come or go without an event (gifts, rebasing) do not show. Of a pool that is older than the index and has had no event since, they are read once.",
  },
  {
    name: "timeRanges",
    type: "Array(String)",
    description: `Time ranges of the arrays that follow, each ending at the indexed head: ${TIME_RANGES.join(", ")}. Exact to the second: a swap belongs to "5 minute" if its block is less than 300 s older than the head; a month is 30 days, a year 365. Where the single swaps of the minute that a range begins within are no longer stored, the range begins with the next whole minute: it is less than 60 s shorter. A year begins with a whole hour where the minutes of 365 days ago are no longer stored. Rates divide by the seconds that were summed.`,
  },
]);

const COVERAGE =
  "null where the range reaches back before the first indexed block and the pool is older than that";

export const v3SwapVolume = defineColumns([
  {
    name: "swapVolumeUsd",
    type: "Array(Nullable(Float64))",
    unit: "USD",
    description: `Sum over swaps of (|amount0| × price0 + |amount1| × price1) / 2 at each swap's block, or of the priced side alone; per range, ${COVERAGE}.`,
  },
]);

export const v3FeeApr = defineColumns([
  {
    name: "feeApr",
    type: "Array(Nullable(Float64))",
    unit: "fraction",
    description: `LP fees in USD (amountIn × fee / 1e6 less the protocol's share) / poolTvlUsd × 31,536,000 / seconds of the range; per range, ${COVERAGE}, or where TVL has no price.`,
  },
]);

export const v3Activity = defineColumns([
  {
    name: "priceVolatilityPct",
    type: "Array(Nullable(Float64))",
    unit: "percent",
    description: `100 × standard deviation of log returns between the closes of the UTC buckets that end within the range and of the head's own, still open (buckets of 1 minute up to 1 hour, of 1 hour up to 1 week, of 1 day beyond; empty buckets carry the last close); per range, null below 3 closes, ${COVERAGE}.`,
  },
  {
    name: "meanAdjustedVolatilityPct",
    type: "Array(Nullable(Float64))",
    unit: "percent",
    description: `100 × standard deviation of the closes / their mean, on the closes of priceVolatilityPct; per range, null below 3 closes, ${COVERAGE}.`,
  },
  {
    name: "tickPressurePer1mUsd",
    type: "Array(Nullable(Float64))",
    unit: "ticks per 1,000,000 USD",
    description: `Sum of |tick change between consecutive swaps| × 1e6 / swapVolumeUsd; per range, null without volume, ${COVERAGE}.`,
  },
  {
    name: "swapCount",
    type: "Array(Nullable(UInt64))",
    unit: "swaps",
    description: `Number of swaps; per range, ${COVERAGE}.`,
  },
  {
    name: "uniqueUserCount",
    type: "Array(Nullable(UInt64))",
    unit: "accounts",
    description: `Number of distinct transaction senders (tx.from) among the swaps; per range, ${COVERAGE}.`,
  },
]);
