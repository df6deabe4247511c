import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { solanaPage } from "../../../../../shared/contract/param.ts";
import { checkWindow, requiredWindow } from "../../../../../shared/contract/window.ts";
import { COVERED_PROGRAMS, specifiedValueColumns, TOKEN_AMOUNT } from "../../../columns.ts";
import { PAID_PRICE_USD, TRANSACTION_ORDER, tokenAddress } from "../../../params.ts";

export const endpoint = defineEndpoint({
  family: "solana",
  path: "/api/v1/solana/token-transactions-time-bounded",
  summary: "Transactions of one token in a time range",
  description: `Buys and sells of one token within an explicit Unix-time range. ${COVERED_PROGRAMS}`,
  mediaType: "application/json",
  body: "object",
  params: { token_address: tokenAddress, ...requiredWindow, ...solanaPage() },
  columns: [
    { name: "signature", type: "String", description: "Transaction signature identifier." },
    { name: "slot", type: "UInt64", description: "Ledger slot number." },
    { name: "txType", type: "String", description: "buy or sell." },
    {
      name: "tokenAmount",
      type: "Float64",
      unit: "token units",
      description: `Amount of tokens transacted, ${TOKEN_AMOUNT}`,
    },
    ...specifiedValueColumns,
  ],
  rowOrder: TRANSACTION_ORDER,
  whenAbsent: "empty",
  live: { kind: "appends", block: "slot", key: ["signature", "txType", "poolAddress"] },
  priceUsd: PAID_PRICE_USD,
  check: checkWindow,
});
