import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { poolList } from "../../../params.ts";
import { POOL_LIST_ORDER, poolListColumns } from "../../../pool-list-columns.ts";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/dexb/v3/pools",
  summary: "All dexb V3 liquidity pools",
  description: "Every pool its factories have created: token pair, fee tier and creation time.",
  mediaType: "application/vnd.service.table.v1.0.0+json",
  body: "array",
  params: poolList([8453]),
  columns: poolListColumns,
  rowOrder: POOL_LIST_ORDER,
  whenAbsent: "empty",
});
