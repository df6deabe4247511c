import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { chainId, evmPage } from "../../../../../shared/contract/param.ts";
import { POOL_LIST_ORDER } from "../../../pool-list-columns.ts";
import { REWARD_APR, SWAP_FEE_APR, v2PoolActivity, v2PoolIdentity } from "../../../v2-columns.ts";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/dexa/v2/pools",
  summary: "dexa V2 liquidity pools with summary metrics",
  description:
    "All dexa V2 pools with summary metrics for the previous 7 completed UTC days, each number as in /evm/dexa/v2/pool.",
  mediaType: "application/vnd.service.table.v2.0.0+json",
  body: "array",
  params: { chain_id: chainId([8453]), ...evmPage() },
  columns: [
    ...v2PoolIdentity,
    ...v2PoolActivity,
    {
      name: "swapFeeApr7d",
      type: "Nullable(Float64)",
      unit: "fraction",
      description: `Fee APR of the previous 7 completed UTC days: ${SWAP_FEE_APR}.`,
    },
    {
      name: "rewardApr7d",
      type: "Nullable(Float64)",
      unit: "fraction",
      description: `Gauge reward APR: ${REWARD_APR}.`,
    },
    {
      name: "totalApr7d",
      type: "Nullable(Float64)",
      unit: "fraction",
      description: "swapFeeApr7d + rewardApr7d; null if either is.",
    },
  ],
  rowOrder: POOL_LIST_ORDER.replace("poolAddress", "poolId"),
  whenAbsent: "empty",
});
