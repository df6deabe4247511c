import { toCells } from "../../../shared/contract/cells.ts";
import type { Endpoint, TableResult } from "../../../shared/contract/endpoint.ts";
import { resolveWindow, type WindowParams } from "../../../shared/contract/window.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { poolTransactionColumns } from "../../endpoints/columns.ts";
import {
  EXCHANGES,
  POOL_TX_TYPES,
  type PoolTransactionRow,
  poolRows,
  tokens,
} from "../../store/collections.ts";
import { decodeIndex } from "../../store/decode-index.ts";
import { keepsPoolList } from "../../store/kept-rows.ts";
import { answerAtHead } from "../answer.ts";
import type { ServeDeps } from "../deps.ts";
import { Pacer } from "../pacer.ts";
import { notKept } from "./not-kept.ts";
import { readPage } from "./paging.ts";
import { poolList } from "./pool-list.ts";
import { findSlots } from "./slot-window.ts";

type PoolPageParams = WindowParams & {
  readonly pool_address: string;
  readonly limit: number;
  readonly offset: number;
};

/** Shared by both lists. */
const LAYOUT = { path: "the pool transactions", columns: poolTransactionColumns };

/** Both lists of a pool's transactions. Symbols are documents, so the whole answer is read as documents. */
export function answerPoolTransactions(
  deps: ServeDeps,
  request: { endpoint: Pick<Endpoint, "path">; params: PoolPageParams; signal: AbortSignal },
): Promise<TableResult> {
  const { endpoint, params, signal } = request;
  const { segments } = deps;
  const { pool_address: pool, limit, offset: skip } = params;
  const isKept = keepsPoolList(deps.kept, pool);
  if (isKept === false) return Promise.reject(notKept("pool"));
  return answerAtHead(deps.store, {
    endpoint,
    dataKind: "documents",
    read: async (checkpoint, store) => {
      if (isKept === undefined && !(await hasRows(store, pool))) throw notKept("pool");
      const range = await findSlots(store, { checkpoint, window: resolveWindow(params, checkpoint.time) });
      if (range === undefined) return [];
      const page = { range, skip, limit, pacer: new Pacer(signal) };
      const rows = await readPage(poolList(store, { pool, segments }), page);
      const symbols = await readSymbols(store, rows);
      return rows.map((row) => toCells(LAYOUT, toRow(row, symbols)));
    },
  });
}

async function hasRows(store: Store, pool: string): Promise<boolean> {
  const found = await store.find(poolRows, { filter: { pool }, limit: 1, fields: ["slot"] });
  return found.length > 0;
}

function toRow(row: PoolTransactionRow, symbols: ReadonlyMap<string, string>) {
  return {
    signature: row.signature,
    slot: row.slot,
    txType: decodeIndex(POOL_TX_TYPES, row.kind),
    amountIn: row.amountIn,
    amountOut: row.amountOut,
    tokenInAddress: row.tokenIn,
    tokenInSymbol: symbols.get(row.tokenIn) ?? "",
    tokenOutAddress: row.tokenOut,
    tokenOutSymbol: symbols.get(row.tokenOut) ?? "",
    valueUSD: row.valueUsd,
    dex: decodeIndex(EXCHANGES, row.dex),
    blockTime: row.time,
    instructionIndex: row.instructionIndex,
  };
}

async function readSymbols(store: Store, rows: readonly PoolTransactionRow[]): Promise<Map<string, string>> {
  const mints = new Set(rows.flatMap(({ tokenIn, tokenOut }) => [tokenIn, tokenOut]));
  const found = await store.getMany(
    tokens,
    [...mints].map((mint) => ({ mint })),
  );
  return new Map(found.map(({ mint, symbol }) => [mint, symbol]));
}
