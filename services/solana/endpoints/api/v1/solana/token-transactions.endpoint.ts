import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { nonNegativeNumber, oneOf, solanaPage } from "../../../../../shared/contract/param.ts";
import { checkWindow } from "../../../../../shared/contract/window.ts";
import { COVERED_PROGRAMS, specifiedValueColumns, TOKEN_AMOUNT } from "../../../columns.ts";
import {
  days,
  EXCHANGES,
  optionalWindow,
  PAID_PRICE_USD,
  poolAddress,
  TRANSACTION_ORDER,
  tokenAddress,
} from "../../../params.ts";

export const endpoint = defineEndpoint({
  family: "solana",
  path: "/api/v1/solana/token-transactions",
  summary: "Transactions of one token",
  description: `Trades and liquidity transactions of one token across all supported exchanges: buys, sells, liquidity additions and removals. Only rows that satisfy every filter given are returned. A side of 0 tokens of a liquidity change has no row. ${COVERED_PROGRAMS}`,
  mediaType: "application/json",
  body: "object",
  params: {
    token_address: tokenAddress,
    days,
    ...optionalWindow,
    tx_type: oneOf(["buy", "sell", "add_liquidity", "remove_liquidity"], {
      description: "Only transactions of this type.",
      example: "buy",
    }).optional(),
    dex: oneOf(EXCHANGES, {
      description: "Only transactions on this exchange, spelled as in the dex column.",
      example: "raydium",
    }).optional(),
    pool_address: poolAddress.optional(),
    min_value_usd: nonNegativeNumber({
      description: "Minimum USD value; transactions without a known value are left out.",
      example: "10.5",
    }).optional(),
    ...solanaPage(),
  },
  columns: [
    {
      name: "transactionHash",
      type: "String",
      description: "Unique hash (signature) identifying the transaction.",
    },
    { name: "slot", type: "UInt64", description: "Ledger slot number of the transaction." },
    {
      name: "blockTime",
      type: "UInt32",
      unit: "Unix seconds",
      description: "Time at which the transaction was processed.",
    },
    { name: "transactionType", type: "String", description: "buy, sell, add_liquidity or remove_liquidity." },
    {
      name: "tokenAmount",
      type: "Float64",
      unit: "token units",
      description: `Amount of tokens involved, ${TOKEN_AMOUNT}`,
    },
    ...specifiedValueColumns,
    {
      name: "instructionIndex",
      type: "UInt32",
      description:
        "Index of the instruction within the transaction: top-level and inner instructions counted together from 0, in the order of execution.",
    },
  ],
  rowOrder: TRANSACTION_ORDER,
  whenAbsent: "empty",
  live: { kind: "appends", block: "slot", key: ["transactionHash", "instructionIndex"] },
  priceUsd: PAID_PRICE_USD,
  check: checkWindow,
});
