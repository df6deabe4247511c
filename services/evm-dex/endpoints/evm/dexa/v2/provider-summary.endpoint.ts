import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { chainId, evmAddress } from "../../../../../shared/contract/param.ts";

const WHOLE = "null if any position cannot be fully priced";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/dexa/v2/provider-summary",
  summary: "Liquidity-provider summary and portfolio metrics",
  description:
    "One row for any address, of zeros and nulls for one without positions. LP tokens staked in a gauge count as the staker's. Portfolio-wide USD sums and weighted APRs are null if any position cannot be fully priced; values per pool and per token are null on their own.",
  mediaType: "application/vnd.service.table.v2.0.0+json",
  body: "array",
  params: {
    chain_id: chainId([8453]),
    wallet_address: evmAddress({
      description: "Address of the liquidity provider.",
      example: "0x1111111111111111111111111111111111111111",
    }),
  },
  columns: [
    { name: "providerId", type: "String", description: "Address of the liquidity provider." },
    {
      name: "totalValueLockedUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: `Sum over positions of share of the pool × its TVL; ${WHOLE}.`,
    },
    {
      name: "activePositionCount",
      type: "UInt64",
      unit: "positions",
      description: "LP balances above zero; held and staked LP tokens of one pool are two positions.",
    },
    {
      name: "poolCount",
      type: "UInt64",
      unit: "pools",
      description: "Distinct pools among the active positions.",
    },
    {
      name: "totalFeesEarned7d",
      type: "Nullable(Float64)",
      unit: "USD",
      description: `Share of the pools' swap fees over the previous 7 completed UTC days, by the LP tokens held at each; ${WHOLE}.`,
    },
    {
      name: "totalFeesEarned30d",
      type: "Nullable(Float64)",
      unit: "USD",
      description: `The same over the previous 30 completed UTC days; ${WHOLE}.`,
    },
    {
      name: "averageApr7dWeighted",
      type: "Nullable(Float64)",
      unit: "fraction",
      description: `Mean of the pools' swap-fee APR of 7 days, weighted by the position's USD value; ${WHOLE}.`,
    },
    {
      name: "averageApr30dWeighted",
      type: "Nullable(Float64)",
      unit: "fraction",
      description: `The same with the APR of 30 days; ${WHOLE}.`,
    },
    {
      name: "firstPositionTimestamp",
      type: "Nullable(DateTime)",
      description: "Time of the first indexed event that gave the address LP tokens; null without any.",
    },
    {
      name: "lastActiveTimestamp",
      type: "Nullable(DateTime)",
      description: "Time of the last indexed event that moved LP tokens of the address; null without any.",
    },
    {
      name: "topPoolsData",
      type: "Array(Tuple(String, String, String, Nullable(Float64), Nullable(Float64)))",
      description:
        "At most ten rows [poolAddress, token0Symbol, token1Symbol, tvlUsd, share] by tvlUsd descending; tvlUsd is the position's value, share its fraction of totalValueLockedUsd.",
    },
    {
      name: "tokenExposure",
      type: "Array(Tuple(String, String, Float64, Nullable(Float64), Nullable(Float64)))",
      description:
        "Rows [tokenAddress, symbol, amount, valueUsd, share] over all positions by valueUsd descending; amount in token units, share a fraction of totalValueLockedUsd.",
    },
    {
      name: "concentrationIndex",
      type: "Nullable(Float64)",
      unit: "0 to 1",
      description: `Herfindahl index: sum of squared shares of the pools in totalValueLockedUsd; ${WHOLE}, or without positions.`,
    },
    { name: "updatedAt", type: "DateTime", description: "Time of the block this row stands on." },
  ],
  rowOrder: "one row",
  whenAbsent: "empty",
});
