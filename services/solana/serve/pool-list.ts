import type { Filter, OrderBy, Store } from "../../shared/storage/port.ts";
import { matcherOf } from "../metrics/stretch-counts.ts";
import {
  POOL_TX_TYPES,
  type PoolRowRow,
  poolRows,
  type TokenRowRow,
  TX_TYPES,
} from "../store/collections.ts";
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

/** Rows read at once where a page is picked out of them: as many as are wanted, within these bounds. */
const CHUNK = { least: 128, most: 1_024 };

/**
 * Transactions of a token in one pool: its side of the pool's rows. What liquidity is worth is not stored with the pool
 * but worked out (store/token-sides.ts), so rows are read and looked at here, stretches passed over by their counts.
 * The exchange must be the pool's, if it is asked for: a pool is of one.
 */
export function tokenInPoolList(
  store: Store,
  of: ListMemory & { pool: string; filter: TokenListFilter; pacer?: Pacer },
): PagedList<TokenRowRow> {
  const { pool, filter, stretches, counts, pacer } = of;
  const { mint } = filter;
  const { sure, unsure } = sideFilters(filter);
  const inRange = ({ lo, hi }: SlotRange): Filter<PoolRowRow> => ({ pool, slot: { gte: lo, lte: hi } });
  /** Sides that are asked for, of rows that satisfy one of the filters. */
  async function* matching(
    range: SlotRange,
    { anyOf, wanted }: { anyOf: readonly Filter<PoolRowRow>[]; wanted: number },
  ): AsyncGenerator<TokenRowRow> {
    const limit = Math.min(Math.max(wanted, CHUNK.least), CHUNK.most);
    let { hi } = range;
    for (let skip = 0; ; ) {
      const filter = inRange({ lo: range.lo, hi });
      const rows = await store.find(poolRows, {
        filter,
        anyOf,
        order: NEWEST_FIRST,
        via: poolRows.key,
        skip,
        limit,
      });
      for (const row of rows) {
        for (const side of tokenSides(row)) if (isAskedFor(side, of.filter)) yield side;
      }
      const last = rows[limit - 1];
      if (last === undefined) return;
      // The next rows are of the last one's slot, or older.
      const ofSlot = rows.filter(({ slot }) => slot === last.slot).length;
      skip = last.slot === hi ? skip + ofSlot : ofSlot;
      hi = last.slot;
      await pacer?.step();
    }
  }
  async function count(range: SlotRange): Promise<number> {
    let rows = 0;
    if (sure.length > 0)
      rows += await store.count(poolRows, inRange(range), { anyOf: sure, via: poolRows.key });
    if (unsure.length === 0) return rows;
    for await (const _ of matching(range, { anyOf: unsure, wanted: CHUNK.most })) rows += 1;
    return rows;
  }
  const asked = countFilterOf(filter);
  const match = matcherOf(asked);
  const name = JSON.stringify(["pool", pool, mint, asked]);
  return {
    async counted(hi, limit) {
      const found = await stretches.before(`pool ${pool}`, { hi, limit });
      return found.map((stretch) => {
        const who = stretch.mints.indexOf(mint);
        if (who === -1) return runOf(stretch, { sure: 0, unsure: 0 });
        return runOf(stretch, match(stretch.counts, who));
      });
    },
    async find(range, { skip, limit }) {
      const page: TokenRowRow[] = [];
      if (unsure.length === 0 && sure.length > 0) {
        // Each row that satisfies a filter has the one side that is asked for: the store can count.
        const rows = await store.find(poolRows, {
          ...{ filter: inRange(range), anyOf: sure, order: NEWEST_FIRST, via: poolRows.key, skip, limit },
        });
        return rows.flatMap((row) => tokenSides(row).filter((side) => isAskedFor(side, of.filter)));
      }
      let passed = 0;
      const wanted = { anyOf: [...sure, ...unsure], wanted: skip + limit };
      for await (const row of matching(range, wanted)) {
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

/**
 * The rows of a pool that have a side which is asked for: surely, or where only the row tells what the side is worth.
 * A row has one side of a token.
 */
function sideFilters({ mint, txTypes, minValueUsd }: TokenListFilter): {
  sure: Filter<PoolRowRow>[];
  unsure: Filter<PoolRowRow>[];
} {
  const isWanted = (type: (typeof TX_TYPES)[number]): boolean =>
    txTypes?.includes(TX_TYPES.indexOf(type)) ?? true;
  const trade = {
    kind: POOL_TX_TYPES.indexOf("trade"),
    ...(minValueUsd !== undefined && { valueUsd: { gte: minValueUsd } }),
  };
  const sure: Filter<PoolRowRow>[] = [];
  if (isWanted("sell")) sure.push({ ...trade, tokenIn: mint });
  if (isWanted("buy")) sure.push({ ...trade, tokenOut: mint });
  const changes = (["add_liquidity", "remove_liquidity"] as const).filter(isWanted).flatMap((type) => {
    const kind = POOL_TX_TYPES.indexOf(type);
    return [
      { kind, tokenIn: mint, amountIn: { gt: 0 } },
      { kind, tokenOut: mint, amountOut: { gt: 0 } },
    ];
  });
  return minValueUsd === undefined ? { sure: [...sure, ...changes], unsure: [] } : { sure, unsure: changes };
}

function isAskedFor(row: TokenRowRow, { mint, txTypes, minValueUsd }: TokenListFilter): boolean {
  return (
    row.mint === mint &&
    (txTypes === undefined || txTypes.includes(row.txType)) &&
    (minValueUsd === undefined || (row.valueUsd !== null && row.valueUsd >= minValueUsd))
  );
}
