import { asOfParams, checkAsOf } from "../../../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { onePool } from "../../../params.ts";
import {
  poolCreatedAt,
  poolDexName,
  v3Activity,
  v3FeeApr,
  v3PoolState,
  v3SwapVolume,
} from "../../../v3-pool-columns.ts";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/clones/v3/pool",
  summary: "Metrics of one V3 pool of the clone-family DEXes, with fees APR",
  description: "State of the pool at the indexed head, and its activity over six time ranges that end there.",
  mediaType: "application/vnd.service.table.v1.0.0+json",
  body: "array",
  params: { ...onePool([1, 8453], "0x72ab388e2e2f6facef59e3c3fa2c4e29011c2d38"), ...asOfParams },
  columns: [...poolCreatedAt, ...poolDexName, ...v3PoolState, ...v3SwapVolume, ...v3FeeApr, ...v3Activity],
  rowOrder: "one row",
  whenAbsent: "not_found",
  live: { kind: "row" },
  check: checkAsOf,
});
