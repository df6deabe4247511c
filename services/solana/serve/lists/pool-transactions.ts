import { toCells } from "../../../shared/contract/cells.ts";
import type { Endpoint, TableResult } from "../../../shared/contract/endpoint.ts";
import { resolveWindow, type WindowParams } from "../../../shared/contract/window.ts";
import { Pacer } from "../../../shared/service/pacer.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { poolTransactionColumns } from "../../endpoints/columns.ts";
import { EXCHANGES, POOL_TX_TYPES, type PoolTransactionRow, poolRows } from "../../store/collections.ts";
import { decodeIndex } from "../../store/decode-index.ts";
import { keepsPoolList } from "../../store/kept-rows.ts";
import { tokens } from "../../store/token-collections.ts";
import { answerAtHead } from "../answer.ts";
import type { ServeDeps } from "../deps.ts";
import { findTokenMultiplier } from "../tokens/ui-amounts.ts";
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
    signal,
    read: async (checkpoint, store) => {
      if (isKept === undefined && !(await hasRows(store, pool))) throw notKept("pool");
      const range = await findSlots(store, { checkpoint, window: resolveWindow(params, checkpoint.time) });
      if (range === undefined) return [];
      const page = { range, skip, limit, pacer: new Pacer(signal) };
      const rows = await readPage(poolList(store, { pool, segments }), page);
      const read = await readTokens(store, { rows, time: checkpoint.time });
      return rows.map((row) => toCells(LAYOUT, toRow(row, read)));
    },
  });
}

async function hasRows(store: Store, pool: string): Promise<boolean> {
  const found = await store.find(poolRows, { filter: { pool }, limit: 1, fields: ["slot"] });
  return found.length > 0;
}

interface PoolToken {
  readonly symbol: string;
  /** See findTokenMultiplier. */
  readonly multiplier: number;
}

const UNKNOWN: PoolToken = { symbol: "", multiplier: 1 };

function toRow(row: PoolTransactionRow, read: ReadonlyMap<string, PoolToken>) {
  const [tokenIn, tokenOut] = [read.get(row.tokenIn) ?? UNKNOWN, read.get(row.tokenOut) ?? UNKNOWN];
  return {
    signature: row.signature,
    slot: row.slot,
    txType: decodeIndex(POOL_TX_TYPES, row.kind),
    amountIn: row.amountIn * tokenIn.multiplier,
    amountOut: row.amountOut * tokenOut.multiplier,
    tokenInAddress: row.tokenIn,
    tokenInSymbol: tokenIn.symbol,
    tokenOutAddress: row.tokenOut,
    tokenOutSymbol: tokenOut.symbol,
    valueUSD: row.valueUsd,
    dex: decodeIndex(EXCHANGES, row.dex),
    blockTime: row.time,
    instructionIndex: row.instructionIndex,
  };
}

async function readTokens(
  store: Store,
  { rows, time }: { rows: readonly PoolTransactionRow[]; time: number },
): Promise<Map<string, PoolToken>> {
  const mints = new Set(rows.flatMap(({ tokenIn, tokenOut }) => [tokenIn, tokenOut]));
  const found = await store.getMany(
    tokens,
    [...mints].map((mint) => ({ mint })),
  );
  return new Map(
    found.map((token) => [
      token.mint,
      { symbol: token.symbol, multiplier: findTokenMultiplier(token, time) },
    ]),
  );
}
