import type { Filter, OrderBy, Store } from "../../shared/storage/port.ts";
import { countMatching } from "../metrics/stretch-counts.ts";
import { type PoolRowRow, poolRows, type TokenRowRow } from "../store/collections.ts";
import { tokenSides } from "../store/token-sides.ts";
import { runOf } from "./counted-run.ts";
import type { Pacer } from "./pacer.ts";
import type { PagedList, SlotRange } from "./paging.ts";
import type { StretchCache } from "./stretch-cache.ts";
import { countFilterOf, type ListMemory, type TokenListFilter } from "./token-list.ts";

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
  const count = (range: SlotRange): Promise<number> =>
    store.count(poolRows, where(range), { via: poolRows.key });
  return {
    async counted(hi, limit) {
      const found = await of.stretches.before(`pool ${pool}`, { hi, limit });
      return found.map((stretch) => runOf(stretch, { sure: stretch.rows, unsure: 0 }));
    },
    find: (range, page) =>
      store.find(poolRows, { filter: where(range), order: NEWEST_FIRST, via: poolRows.key, ...page }),
    count,
    recount: count,
  };
}

/** Rows read at once where a page is picked out of them. */
const CHUNK = 1_024;

/**
 * Transactions of a token in one pool: its side of the pool's rows. What a side is worth is not stored with the pool
 * but worked out (store/token-sides.ts), so rows are read and looked at here, stretches passed over by their counts.
 * The exchange must be the pool's, if it is asked for: a pool is of one.
 */
export function tokenInPoolList(
  store: Store,
  of: ListMemory & { pool: string; filter: TokenListFilter; pacer?: Pacer },
): PagedList<TokenRowRow> {
  const { pool, filter, stretches, counts, pacer } = of;
  const { mint } = filter;
  const all = poolList(store, of);
  async function* matching({ lo, hi: from }: SlotRange): AsyncGenerator<TokenRowRow> {
    let hi = from;
    let skip = 0;
    for (;;) {
      const rows = await all.find({ lo, hi }, { skip, limit: CHUNK });
      for (const row of rows) {
        for (const side of tokenSides(row)) if (isAskedFor(side, filter)) yield side;
      }
      if (rows.length < CHUNK) return;
      // The next rows are of the last one's slot, or older.
      const { slot } = rows[CHUNK - 1] as PoolRowRow;
      const ofSlot = rows.filter((row) => row.slot === slot).length;
      skip = slot === hi ? skip + ofSlot : ofSlot;
      hi = slot;
      await pacer?.step();
    }
  }
  async function count(range: SlotRange): Promise<number> {
    let rows = 0;
    for await (const _ of matching(range)) rows += 1;
    return rows;
  }
  const asked = countFilterOf(filter);
  const name = JSON.stringify(["pool", pool, mint, asked]);
  return {
    async counted(hi, limit) {
      const found = await stretches.before(`pool ${pool}`, { hi, limit });
      return found.map((stretch) => {
        const who = stretch.mints.indexOf(mint);
        if (who === -1) return runOf(stretch, { sure: 0, unsure: 0 });
        return runOf(stretch, countMatching(stretch.counts, { who, ...asked }));
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
    count,
    recount: (run) => counts.of({ filter: name, firstSlot: run.lo }, () => count(run)),
  };
}

function isAskedFor(row: TokenRowRow, { mint, txTypes, minValueUsd }: TokenListFilter): boolean {
  return (
    row.mint === mint &&
    (txTypes === undefined || txTypes.includes(row.txType)) &&
    (minValueUsd === undefined || (row.valueUsd !== null && row.valueUsd >= minValueUsd))
  );
}
