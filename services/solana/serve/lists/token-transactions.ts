import type { Window } from "../../../shared/contract/window.ts";
import { Pacer } from "../../../shared/service/pacer.ts";
import { type CheckpointRow, poolRows, type TokenTransactionRow } from "../../store/collections.ts";
import { keepsPoolList, keepsTokenList } from "../../store/kept-rows.ts";
import type { ServeDeps } from "../deps.ts";
import { notKept } from "./not-kept.ts";
import { readPage } from "./paging.ts";
import { tokenInPoolList } from "./pool-list.ts";
import { findSlots } from "./slot-window.ts";
import { type TokenListFilter, tokenList } from "./token-list.ts";

export interface TokenPage {
  readonly checkpoint: CheckpointRow;
  readonly window: Window;
  readonly filter: TokenListFilter;
  /** Only of this pool. */
  readonly pool?: string | undefined;
  readonly offset: number;
  readonly limit: number;
  readonly signal?: AbortSignal;
}

/** A page of a token's transactions, newest first. A filter by pool and exchange has rows only if the pool is of that exchange. */
export async function readTokenPage(deps: ServeDeps, query: TokenPage): Promise<TokenTransactionRow[]> {
  const { checkpoint, window, filter, pool, offset: skip, limit } = query;
  const { kept } = deps;
  if (!keepsTokenList(kept, filter.mint) && (pool === undefined || keepsPoolList(kept, pool) !== true))
    throw notKept("token");
  if (filter.dex !== undefined && kept.exchanges?.has(filter.dex) === false) throw notKept("exchange");
  const range = await findSlots(deps.store, { checkpoint, window });
  if (range === undefined) return [];
  const pacer = new Pacer(query.signal);
  const page = { range, skip, limit, pacer };
  if (pool === undefined) return readPage(tokenList(deps.store, { ...deps, filter }), page);
  if (filter.dex !== undefined && filter.dex !== (await findDex(deps, { pool, upTo: range.toSlot })))
    return [];
  return readPage(tokenInPoolList(deps.store, { ...deps, pool, filter, pacer }), page);
}

/** A pool's exchange, from any of its rows. */
async function findDex(
  { store }: ServeDeps,
  { pool, upTo }: { pool: string; upTo: number },
): Promise<number | undefined> {
  const [row] = await store.find(poolRows, {
    filter: { pool, slot: { lte: upTo } },
    order: [{ field: "slot", direction: "desc" }],
    via: poolRows.key,
    limit: 1,
    fields: ["dex"],
  });
  return row?.dex;
}
