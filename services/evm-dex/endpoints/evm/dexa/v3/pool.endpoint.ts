import { asOfParams, checkAsOf } from "../../../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { onePool } from "../../../params.ts";
import { poolCreatedAt, v3Activity, v3PoolState, v3SwapVolume } from "../../../v3-pool-columns.ts";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/dexa/v3/pool",
  summary: "Metrics of one dexa V3 pool",
  description: "State of the pool at the indexed head, and its activity over six time ranges that end there.",
  mediaType: "application/vnd.service.table.v1.0.0+json",
  body: "array",
  params: { ...onePool([8453], "0xb2cc224c1c9fee385f8ad6a55b4d94e92359dc59"), ...asOfParams },
  columns: [...poolCreatedAt, ...v3PoolState, ...v3SwapVolume, ...v3Activity],
  rowOrder: "one row",
  whenAbsent: "not_found",
  live: { kind: "row" },
  check: checkAsOf,
});
