import { asOfParams, checkAsOf } from "../../../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { onePool } from "../../../params.ts";
import { poolCreatedAt, v3Activity, v3FeeApr, v3PoolState, v3SwapVolume } from "../../../v3-pool-columns.ts";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/dexb/v3/pool",
  summary: "Metrics of one dexb V3 pool, with fees APR",
  description: "State of the pool at the indexed head, and its activity over six time ranges that end there.",
  mediaType: "application/vnd.service.table.v1.0.0+json",
  body: "array",
  params: { ...onePool([8453], "0xd0b53d9277642d899df5c87a3966a349a798f224"), ...asOfParams },
  columns: [...poolCreatedAt, ...v3PoolState, ...v3SwapVolume, ...v3FeeApr, ...v3Activity],
  rowOrder: "one row",
  whenAbsent: "not_found",
  live: { kind: "row" },
  check: checkAsOf,
});
