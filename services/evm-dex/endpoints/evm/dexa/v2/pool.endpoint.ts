import { asOfParams, checkAsOf } from "../../../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { integer } from "../../../../../shared/contract/param.ts";
import { onePool } from "../../../params.ts";
import {
  REWARD_APR,
  SWAP_FEE_APR,
  V2_FEE,
  V2_RESERVES,
  v2PoolActivity,
  v2PoolIdentity,
} from "../../../v2-columns.ts";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/dexa/v2/pool",
  summary: "One dexa V2 pool",
  description: "State of one V2 pool, with its APRs over a chosen number of days.",
  mediaType: "application/vnd.service.table.v2.0.0+json",
  body: "array",
  params: {
    ...onePool([8453], "0xcdac0d6c6c59727a65f871236188350531885c43"),
    apr_days_annualized: integer(
      { min: 1, max: 30 },
      {
        description:
          "Number of previous completed UTC days the APR is computed from: 7 annualizes the previous 7 completed UTC days.",
        example: "7",
      },
    ),
    ...asOfParams,
  },
  columns: [
    ...v2PoolIdentity,
    {
      name: "stable",
      type: "Bool",
      description: "True for the stable curve x³y + xy³ = k (on reserves of 18 decimals), false for xy = k.",
    },
    {
      name: "fee",
      type: "Float64",
      unit: "fraction",
      description: `Swap fee in force as the factory's getFee() returns it: 0.003 is 0.3 %; ${V2_FEE}.`,
    },
    {
      name: "reserve0",
      type: "Float64",
      unit: "token units",
      description: `Reserve of token0 ${V2_RESERVES}.`,
    },
    {
      name: "reserve1",
      type: "Float64",
      unit: "token units",
      description: `Reserve of token1 ${V2_RESERVES}.`,
    },
    {
      name: "token0PriceUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: "USD price of token0 at the indexed head; null when none is known.",
    },
    {
      name: "token1PriceUsd",
      type: "Nullable(Float64)",
      unit: "USD",
      description: "USD price of token1 at the indexed head; null when none is known.",
    },
    ...v2PoolActivity,
    {
      name: "swapFeeApr",
      type: "Nullable(Float64)",
      unit: "fraction",
      description: `Fee APR of the previous aprDaysAnnualized completed UTC days: ${SWAP_FEE_APR}.`,
    },
    {
      name: "rewardApr",
      type: "Nullable(Float64)",
      unit: "fraction",
      description: `Gauge reward APR: ${REWARD_APR}.`,
    },
    {
      name: "totalApr",
      type: "Nullable(Float64)",
      unit: "fraction",
      description: "swapFeeApr + rewardApr; null if either is.",
    },
    {
      name: "aprDaysAnnualized",
      type: "UInt8",
      unit: "days",
      description: "The apr_days_annualized of the request.",
    },
    { name: "createdAt", type: "DateTime", description: "Time of the block that created the pool." },
    { name: "updatedAt", type: "DateTime", description: "Time of the block of this row." },
  ],
  rowOrder: "one row",
  whenAbsent: "not_found",
  live: { kind: "row" },
  check: checkAsOf,
});
