import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { onePool } from "../../../params.ts";

const COVERAGE = "null where the 24 hours reach back before the first indexed block";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/dexa/v2/pool-volume",
  summary: "Recent activity of one dexa V2 pool",
  description: "Activity of the 24 hours up to the indexed head, and how it spreads over them.",
  mediaType: "application/vnd.service.table.v2.0.0+json",
  body: "array",
  params: onePool([8453], "0xcdac0d6c6c59727a65f871236188350531885c43"),
  columns: [
    { name: "poolId", type: "String", description: "Address of the pool." },
    { name: "timeframeAt", type: "String", description: "Time frame of the metrics: always 24h." },
    {
      name: "volumeUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: `Sum over swaps of (|amount0| × price0 + |amount1| × price1) / 2, or of the priced side alone; ${COVERAGE}.`,
    },
    {
      name: "volumeToken0",
      type: "Nullable(String)",
      unit: "token units",
      description: `Sum of |amount0| over the swaps as a decimal string; ${COVERAGE}.`,
    },
    {
      name: "volumeToken1",
      type: "Nullable(String)",
      unit: "token units",
      description: `Sum of |amount1| over the swaps as a decimal string; ${COVERAGE}.`,
    },
    {
      name: "volumeChange",
      type: "Nullable(Float64)",
      unit: "fraction",
      description:
        "volumeUsd / volumeUsd of the 24 hours before − 1; null where those have no volume or no coverage.",
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
      description: "volumeUsd / swapCount; null without swaps.",
    },
    {
      name: "volumeByHour",
      type: "Array(Tuple(UInt32, Nullable(Float64), Nullable(UInt64)))",
      description:
        "24 rows [hourStartUnix, volumeUsd, swapCount], oldest first; the hours follow each other up to the indexed head, so that they add up to volumeUsd and swapCount.",
    },
    {
      name: "volumeByToken",
      type: "Array(Tuple(String, Nullable(Float64)))",
      description: "Two rows [direction, volumeUsd] with direction token0_to_token1 and token1_to_token0.",
    },
    {
      name: "largestSwaps",
      type: "Array(Tuple(String, UInt32, Nullable(Float64), String))",
      description:
        "At most ten rows [txHash, unixTime, valueUsd, direction] by valueUsd descending (unpriced ones last), with the directions of volumeByToken.",
    },
    {
      name: "updatedAt",
      type: "UInt32",
      unit: "Unix seconds",
      description: "Time of the block this row stands on.",
    },
  ],
  rowOrder: "one row",
  whenAbsent: "not_found",
});
