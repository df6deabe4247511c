import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { chainId, evmAddress } from "../../../../../shared/contract/param.ts";

const WHOLE = "null if any position cannot be fully priced, or not all positions are known yet";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/dexa/v2/provider-summary",
  summary: "Liquidity-provider summary and portfolio metrics",
  description:
    "One row for any address, of zeros and nulls for one without positions. LP tokens staked in a gauge count as the staker's, none as the gauge's. Positions are known from the LP-token transfers and gauge events since the first indexed block. In pools older than that, an address is known once its balances have been read from the chain, some seconds after the first request for it as a rule: X-Data-Positions-From-Block then names the first indexed block. Until then that header is absent, counts and lists have only positions with events since that block, and sums are null. Portfolio-wide USD sums and weighted APRs are also null if any position cannot be fully priced; values per pool and per token are null on their own.",
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
      description: `Sum over pools of (LP tokens held + staked) / totalSupply × reserves (rounded down, as a burn pays them out) × prices at the indexed head; ${WHOLE}.`,
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
      description: `Swap fees earned in the previous 7 completed UTC days, claimed or not, at the prices of the indexed head: of every Fees event the share of the LP tokens then held in the wallet (difference of the pool's fee index × balance, Aerodrome Pool._updateFor). Staked LP tokens earn emissions instead, and their swap fees go to the gauge's voters. Positions emptied since count; ${WHOLE}, or where the window begins before the first indexed block and any pool is older than that.`,
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
      description: `Mean of what each position's kind earns, weighted by its USD value: LP tokens held the pool's swap-fee APR of the previous 7 completed UTC days, LP tokens staked the gauge's reward APR at the head (both as in /evm/dexa/v2/pool); ${WHOLE} or one of these APRs is null.`,
    },
    {
      name: "averageApr30dWeighted",
      type: "Nullable(Float64)",
      unit: "fraction",
      description: `The same with the swap-fee APR of the previous 30 completed UTC days; ${WHOLE} or one of these APRs is null.`,
    },
    {
      name: "firstPositionTimestamp",
      type: "Nullable(DateTime)",
      description: "Time of the first indexed event that moved LP tokens of the address; null without any.",
    },
    {
      name: "lastActiveTimestamp",
      type: "Nullable(DateTime)",
      description:
        "Time of the last indexed event that moved, staked or settled LP tokens of the address; null without any.",
    },
    {
      name: "topPoolsData",
      type: "Array(Tuple(String, String, String, Nullable(Float64), Nullable(Float64)))",
      description:
        "At most ten rows [poolAddress, token0Symbol, token1Symbol, tvlUsd, share] by tvlUsd descending (unpriced ones last); tvlUsd is the value of what is held and staked of the pool, share its fraction of totalValueLockedUsd, null where either is.",
    },
    {
      name: "tokenExposure",
      type: "Array(Tuple(String, String, Float64, Nullable(Float64), Nullable(Float64)))",
      description:
        "Rows [tokenAddress, symbol, amount, valueUsd, share] over all positions by valueUsd descending (unpriced ones last); amount in whole tokens, share a fraction of totalValueLockedUsd, null where either is.",
    },
    {
      name: "concentrationIndex",
      type: "Nullable(Float64)",
      unit: "0 to 1",
      description: `Herfindahl index: sum of squared shares of the pools in totalValueLockedUsd; ${WHOLE}, or without positions.`,
    },
    { name: "updatedAt", type: "DateTime", description: "Time of the block of this row." },
  ],
  rowOrder: "one row",
  whenAbsent: "empty",
});
