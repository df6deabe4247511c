import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { solanaPage } from "../../../../../shared/contract/param.ts";
import { COVERED_PROGRAMS, poolTransactionColumns } from "../../../columns.ts";
import { days, poolAddress, TRANSACTION_ORDER } from "../../../params.ts";

export const endpoint = defineEndpoint({
  family: "solana",
  path: "/api/v1/solana/pool-transactions",
  summary: "Transactions of one pool",
  description: `Trades and liquidity transactions of one pool over the last days up to the indexed head. ${COVERED_PROGRAMS}`,
  mediaType: "application/json",
  body: "object",
  params: { pool_address: poolAddress, days, ...solanaPage() },
  columns: poolTransactionColumns,
  rowOrder: TRANSACTION_ORDER,
  whenAbsent: "empty",
});
