import { toCells } from "../../../../../shared/contract/cells.ts";
import type { Cell } from "../../../../../shared/contract/column.ts";
import type { Handler } from "../../../../../shared/contract/endpoint.ts";
import { resolveWindow } from "../../../../../shared/contract/window.ts";
import { answerAtHead } from "../../../../serve/answer.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { readTokenPage } from "../../../../serve/lists/token-transactions.ts";
import { readMultiplier } from "../../../../serve/tokens/ui-amounts.ts";
import { EXCHANGES, type TokenTransactionRow, TX_TYPES } from "../../../../store/collections.ts";
import { decodeIndex } from "../../../../store/decode-index.ts";
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
      dataKind: "rows",
      signal,
      read: async (checkpoint, store) => {
        const window = resolveWindow(params, checkpoint.time);
        const page = { checkpoint, window, filter, pool, offset, limit, signal };
        const rows = await readTokenPage({ ...deps, store }, page);
        const multiplier = await readMultiplier(store, { mint: filter.mint, time: checkpoint.time });
        return rows.map((row) => cellsOf(row, multiplier));
      },
    });
  };
}

function cellsOf(row: TokenTransactionRow, multiplier: number): Cell[] {
  return toCells(endpoint, {
    transactionHash: row.signature,
    slot: row.slot,
    blockTime: row.time,
    transactionType: decodeIndex(TX_TYPES, row.txType),
    tokenAmount: row.amount * multiplier,
    valueUSD: row.valueUsd,
    priceUSD: row.priceUsd === null ? null : row.priceUsd / multiplier,
    dex: decodeIndex(EXCHANGES, row.dex),
    poolAddress: row.pool,
    instructionIndex: row.instructionIndex,
  });
}
