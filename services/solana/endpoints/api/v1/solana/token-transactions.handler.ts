import { toCells } from "../../../../../shared/contract/cells.ts";
import type { Cell } from "../../../../../shared/contract/column.ts";
import type { Handler } from "../../../../../shared/contract/endpoint.ts";
import { resolveWindow } from "../../../../../shared/contract/window.ts";
import { answerAtHead } from "../../../../serve/answer.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { textOf } from "../../../../serve/text-of.ts";
import { readTokenPage } from "../../../../serve/token-transactions.ts";
import { EXCHANGES, type TokenRowRow, TX_TYPES } from "../../../../store/collections.ts";
import { endpoint } from "./token-transactions.endpoint.ts";

export function tokenTransactionsHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return (params, { signal }) => {
    const { tx_type, dex, min_value_usd: minValueUsd } = params;
    const filter = {
      mint: params.token_address,
      ...(tx_type !== undefined && { txTypes: [TX_TYPES.indexOf(tx_type)] }),
      ...(dex !== undefined && { dex: EXCHANGES.indexOf(dex) }),
      ...(minValueUsd !== undefined && { minValueUsd }),
    };
    const { pool_address: pool, offset, limit } = params;
    return answerAtHead(deps.store, {
      endpoint,
      matter: "rows",
      read: async (checkpoint) => {
        const window = resolveWindow(params, checkpoint.time);
        const page = { checkpoint, window, filter, pool, offset, limit, signal };
        return (await readTokenPage(deps, page)).map(cellsOf);
      },
    });
  };
}

function cellsOf(row: TokenRowRow): Cell[] {
  return toCells(endpoint, {
    transactionHash: row.signature,
    slot: row.slot,
    blockTime: row.time,
    transactionType: textOf(TX_TYPES, row.txType),
    tokenAmount: row.amount,
    valueUSD: row.valueUsd,
    priceUSD: row.priceUsd,
    dex: textOf(EXCHANGES, row.dex),
    poolAddress: row.pool,
    instructionIndex: row.instructionIndex,
  });
}
