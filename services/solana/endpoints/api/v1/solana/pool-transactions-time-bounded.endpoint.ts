import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { solanaPage } from "../../../../../shared/contract/param.ts";
import { checkWindow, requiredWindow } from "../../../../../shared/contract/window.ts";
import { COVERED_PROGRAMS, poolTransactionColumns } from "../../../columns.ts";
import { poolAddress, TRANSACTION_ORDER } from "../../../params.ts";

export const endpoint = defineEndpoint({
  family: "solana",
  path: "/api/v1/solana/pool-transactions-time-bounded",
  summary: "Transactions of one pool in a time range",
  description: `Trades and liquidity transactions of one pool within an explicit Unix-time range. ${COVERED_PROGRAMS}`,
  mediaType: "application/json",
  body: "object",
  params: { pool_address: poolAddress, ...requiredWindow, ...solanaPage() },
  columns: poolTransactionColumns,
  rowOrder: TRANSACTION_ORDER,
  whenAbsent: "empty",
  check: checkWindow,
});
