import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { poolList } from "../../../params.ts";
import { POOL_LIST_ORDER, poolListColumns } from "../../../pool-list-columns.ts";

export const endpoint = defineEndpoint({
  family: "evm-dex",
  path: "/evm/clones/v3/pools",
  summary: "All V3 liquidity pools of the clone-family DEXes",
  description: "Every pool its factories have created: token pair, fee tier and creation time.",
  mediaType: "application/vnd.service.table.v1.0.0+json",
  body: "array",
  params: poolList([1, 8453]),
  columns: poolListColumns,
  rowOrder: POOL_LIST_ORDER,
  whenAbsent: "empty",
});
