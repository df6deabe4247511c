import { asOfParams, checkAsOf } from "../../../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { onePool } from "../../../params.ts";
import { V2_FEE, V2_SWAP_VALUE } from "../../../v2-columns.ts";

const COVERAGE = "null where the days begin before the first indexed block and the pool is older than that";
const PRICED = "null where one of the pool's tokens had no price at a swap's block";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/dexa/v2/fee-metrics",
  summary: "Fee metrics of one dexa V2 pool",
  description:
    "Fee metrics and daily history of the previous seven completed UTC days, from the pool's Fees events. USD numbers are null where a pool token had no price; a day without swaps has 0.",
  mediaType: "application/vnd.service.table.v2.0.0+json",
  body: "array",
  params: { ...onePool([8453], "0xcdac0d6c6c59727a65f871236188350531885c43"), ...asOfParams },
  columns: [
    { name: "poolId", type: "String", description: "Address of the pool." },
    {
      name: "feeTier",
      type: "UInt32",
      unit: "hundredths of a bip",
      description: `Swap fee in force as the factory's getFee() returns it, × 100: 3000 is 0.3 %; ${V2_FEE}.`,
    },
    { name: "timeframeAt", type: "String", description: "Time frame of the metrics: always 7d." },
    {
      name: "feeApr",
      type: "Nullable(Float64)",
      unit: "fraction",
      description:
        "feesUsd / 7 × 365 / USD value of the reserves at the indexed head; null where one of them is, or nothing is locked.",
    },
    {
      name: "volumeTvlRatio",
      type: "Nullable(Float64)",
      unit: "fraction",
      description:
        "USD volume of the seven days / USD value of the reserves at the indexed head; null where one of them is, or nothing is locked.",
    },
    {
      name: "feesUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: `Fees of the seven days: token0 × price0 + token1 × price1 at each Fees event's block; ${PRICED}, ${COVERAGE}.`,
    },
    {
      name: "feesToken0",
      type: "Nullable(Float64)",
      unit: "token units",
      description: `Fees of the seven days taken in token0; ${COVERAGE}.`,
    },
    {
      name: "feesToken1",
      type: "Nullable(Float64)",
      unit: "token units",
      description: `Fees of the seven days taken in token1; ${COVERAGE}.`,
    },
    {
      name: "historicalFees",
      type: "Array(Tuple(UInt32, Nullable(Float64), Nullable(Float64), Nullable(Float64), Nullable(Float64)))",
      description: `Seven rows [dayStartUnix, volumeUsd, feesUsd, feesToken0, feesToken1], one per completed UTC day, oldest first. volumeUsd: ${V2_SWAP_VALUE}; USD ${PRICED}; all numbers of a day are null where it begins before the first indexed block and the pool is older than that.`,
    },
    {
      name: "updatedAt",
      type: "UInt32",
      unit: "Unix seconds",
      description: "Time of the block of this row.",
    },
  ],
  rowOrder: "one row",
  whenAbsent: "not_found",
  live: { kind: "row" },
  check: checkAsOf,
});
