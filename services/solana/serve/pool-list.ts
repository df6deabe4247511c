import type { Filter, OrderBy, Store } from "../../shared/storage/port.ts";
import { countMatching } from "../metrics/stretch-counts.ts";
import { type PoolRowRow, poolRows, type TokenRowRow } from "../store/collections.ts";
import { tokenSides } from "../store/token-sides.ts";
import { runOf } from "./counted-run.ts";
import type { PagedList, SlotRange } from "./paging.ts";
import type { StretchCache } from "./stretch-cache.ts";
import type { TokenListFilter } from "./token-list.ts";

const NEWEST_FIRST: readonly OrderBy<PoolRowRow>[] = [
  { field: "slot", direction: "desc" },
  { field: "instructionIndex", direction: "desc" },
  { field: "signature", direction: "desc" },
  { field: "leg", direction: "desc" },
];

/** Transactions of a pool, the newest first. */
export function poolList(store: Store, of: { pool: string; stretches: StretchCache }): PagedList<PoolRowRow> {
  const { pool } = of;
  const where = ({ lo, hi }: SlotRange): Filter<PoolRowRow> => ({ pool, slot: { gte: lo, lte: hi } });
  return {
    async counted(hi, limit) {
      const found = await of.stretches.before(`pool ${pool}`, { hi, limit });
      return found.map((stretch) => runOf(stretch, { sure: stretch.rows, unsure: 0 }));
    },
    find: (range, page) =>
      store.find(poolRows, { filter: where(range), order: NEWEST_FIRST, via: poolRows.key, ...page }),
    count: (range) => store.count(poolRows, where(range), { via: poolRows.key }),
  };
}

/** Rows read at once where a page is picked out of them. */
const CHUNK = 1_024;

/**
 * Transactions of a token in one pool: its side of the pool's rows. What a side is worth is not stored with the pool
 * but worked out (store/token-sides.ts), so rows are read and looked at here, stretches passed over by their counts.
 */
export function tokenInPoolList(
  store: Store,
  of: { pool: string; filter: TokenListFilter; stretches: StretchCache },
): PagedList<TokenRowRow> {
  const { pool, filter } = of;
  const { mint, txTypes, minValueUsd } = filter;
  const all = poolList(store, of);
  async function* matching(range: SlotRange): AsyncGenerator<TokenRowRow> {
    for (let skip = 0; ; skip += CHUNK) {
      const rows = await all.find(range, { skip, limit: CHUNK });
      for (const row of rows) {
        for (const side of tokenSides(row)) if (isAskedFor(side, filter)) yield side;
      }
      if (rows.length < CHUNK) return;
    }
  }
  return {
    async counted(hi, limit) {
      const found = await of.stretches.before(`pool ${pool}`, { hi, limit });
      return found.map((stretch) => {
        const who = stretch.mints.indexOf(mint);
        if (who === -1) return runOf(stretch, { sure: 0, unsure: 0 });
        const asked = {
          who,
          ...(txTypes !== undefined && { txTypes }),
          ...(minValueUsd !== undefined && { minValueUsd }),
        };
        return runOf(stretch, countMatching(stretch.counts, asked));
      });
    },
    async find(range, { skip, limit }) {
      const page: TokenRowRow[] = [];
      let passed = 0;
      for await (const row of matching(range)) {
        if (passed++ < skip) continue;
        page.push(row);
        if (page.length === limit) break;
      }
      return page;
    },
    async count(range) {
      let rows = 0;
      for await (const _ of matching(range)) rows += 1;
      return rows;
    },
  };
}

function isAskedFor(row: TokenRowRow, { mint, txTypes, dex, minValueUsd }: TokenListFilter): boolean {
  return (
    row.mint === mint &&
    (txTypes === undefined || txTypes.includes(row.txType)) &&
    (dex === undefined || row.dex === dex) &&
    (minValueUsd === undefined || (row.valueUsd !== null && row.valueUsd >= minValueUsd))
  );
}
