import { asOfParams, checkAsOf } from "../../../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { onePool } from "../../../params.ts";
import { V2_SWAP_VALUE } from "../../../v2-columns.ts";

const COVERAGE =
  "null where the 24 hours begin before the first indexed block and the pool is older than that";
const PRICED = "null where one of the pool's tokens had no price at a swap's block";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/dexa/v2/pool-volume",
  summary: "Recent activity of one dexa V2 pool",
  description:
    "Activity of 24 whole UTC hours, of which the last is the indexed head's own, still open, and how it spreads over them.",
  mediaType: "application/vnd.service.table.v2.0.0+json",
  body: "array",
  params: { ...onePool([8453], "0xcdac0d6c6c59727a65f871236188350531885c43"), ...asOfParams },
  columns: [
    { name: "poolId", type: "String", description: "Address of the pool." },
    { name: "timeframeAt", type: "String", description: "Time frame of the metrics: always 24h." },
    {
      name: "volumeUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: `Sum over the swaps of the 24 hours: ${V2_SWAP_VALUE}; ${PRICED}, ${COVERAGE}.`,
    },
    {
      name: "volumeToken0",
      type: "Nullable(String)",
      unit: "token units",
      description: `Sum of |amount0| over the swaps, exact, as a decimal string of whole tokens; ${COVERAGE}.`,
    },
    {
      name: "volumeToken1",
      type: "Nullable(String)",
      unit: "token units",
      description: `Sum of |amount1| over the swaps, exact, as a decimal string of whole tokens; ${COVERAGE}.`,
    },
    {
      name: "volumeChange",
      type: "Nullable(Float64)",
      unit: "fraction",
      description:
        "volumeUsd / volumeUsd of the 24 whole hours before − 1: the head's hour, which is not over, is compared as it is; null where either is, or where there was no volume before.",
    },
    {
      name: "swapCount",
      type: "Nullable(UInt64)",
      unit: "swaps",
      description: `Number of swaps; ${COVERAGE}.`,
    },
    {
      name: "averageSwapSizeUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: "volumeUsd / swapCount; null without swaps or without volumeUsd.",
    },
    {
      name: "volumeByHour",
      type: "Array(Tuple(UInt32, Nullable(Float64), Nullable(UInt64)))",
      description:
        "24 rows [hourStartUnix, volumeUsd, swapCount], oldest first, one per whole UTC hour up to the head's own, so that they add up to volumeUsd and swapCount; each hour is null on its own, by the same rules.",
    },
    {
      name: "volumeByToken",
      type: "Array(Tuple(String, Nullable(Float64)))",
      description:
        "Two rows [direction, volumeUsd] with direction token0_to_token1 (the pool took token0 in) and token1_to_token0; null where volumeUsd is.",
    },
    {
      name: "largestSwaps",
      type: "Array(Tuple(String, UInt32, Nullable(Float64), String))",
      description:
        "At most ten rows [txHash, unixTime, valueUsd, direction] of the 24 hours by valueUsd descending (unpriced ones last, the earlier first of equal ones), with the directions of volumeByToken; none where swapCount is null.",
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
