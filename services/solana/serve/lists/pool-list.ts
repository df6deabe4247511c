import type { Pacer } from "../../../shared/service/pacer.ts";
import type { Filter, OrderBy, Store } from "../../../shared/storage/port.ts";
import { createMatcher } from "../../metrics/segment-counts.ts";
import {
  POOL_TX_TYPES,
  type PoolTransactionRow,
  poolRows,
  type TokenTransactionRow,
  TX_TYPES,
} from "../../store/collections.ts";
import { toTokenRows } from "../../store/token-sides.ts";
import { toCountedRange } from "./counted-range.ts";
import type { PagedList, SlotInterval } from "./paging.ts";
import type { SegmentIndex } from "./segment-index.ts";
import { type ListCaches, type TokenListFilter, toCountFilter } from "./token-list.ts";

const NEWEST_FIRST: readonly OrderBy<PoolTransactionRow>[] = [
  { field: "slot", direction: "desc" },
  { field: "transactionIndex", direction: "desc" },
  { field: "instructionIndex", direction: "desc" },
  { field: "leg", direction: "desc" },
];

/** Transactions of a pool, newest first. */
export function poolList(
  store: Store,
  query: { pool: string; segments: SegmentIndex },
): PagedList<PoolTransactionRow> {
  const { pool } = query;
  const where = ({ fromSlot, toSlot }: SlotInterval): Filter<PoolTransactionRow> => ({
    pool,
    slot: { gte: fromSlot, lte: toSlot },
  });
  const count = (range: SlotInterval): Promise<number> =>
    store.count(poolRows, where(range), { via: poolRows.key });
  return {
    async findCounted(toSlot, limit) {
      const found = await query.segments.before(`pool ${pool}`, { toSlot, limit });
      return found.map((segment) => toCountedRange(segment, { certain: segment.rows, uncertain: 0 }));
    },
    find: (range, page) =>
      store.find(poolRows, { filter: where(range), order: NEWEST_FIRST, via: poolRows.key, ...page }),
    count,
    recount: count,
  };
}

/** Rows read at once to pick a page from: as many as the page needs, within these bounds. */
const ROWS_PER_READ = { least: 128, most: 1_024 };

/**
 * Transactions of a token in one pool: its side of the pool's rows. The value of a liquidity change's side is not stored
 * with the pool but computed (store/token-sides.ts), so rows are read and compared here; segments are skipped by their
 * counts. The caller checks the exchange: a pool belongs to one.
 */
export function tokenInPoolList(
  store: Store,
  query: ListCaches & { pool: string; filter: TokenListFilter; pacer?: Pacer },
): PagedList<TokenTransactionRow> {
  const { pool, filter, segments, counts, pacer } = query;
  const { mint } = filter;
  const { certain, uncertain } = sideFilters(filter);
  const inRange = ({ fromSlot, toSlot }: SlotInterval): Filter<PoolTransactionRow> => ({
    pool,
    slot: { gte: fromSlot, lte: toSlot },
  });
  /** Matching sides of rows that satisfy one of the filters. */
  async function* matching(
    range: SlotInterval,
    { anyOf, wanted }: { anyOf: readonly Filter<PoolTransactionRow>[]; wanted: number },
  ): AsyncGenerator<TokenTransactionRow> {
    const limit = Math.min(Math.max(wanted, ROWS_PER_READ.least), ROWS_PER_READ.most);
    let { toSlot } = range;
    for (let skip = 0; ; ) {
      const filter = inRange({ fromSlot: range.fromSlot, toSlot });
      const rows = await store.find(poolRows, {
        filter,
        anyOf,
        order: NEWEST_FIRST,
        via: poolRows.key,
        skip,
        limit,
      });
      for (const row of rows) {
        for (const side of toTokenRows(row)) if (matchesFilter(side, query.filter)) yield side;
      }
      const last = rows[limit - 1];
      if (last === undefined) return;
      // The next rows have the last one's slot, or an older one.
      const ofSlot = rows.filter(({ slot }) => slot === last.slot).length;
      skip = last.slot === toSlot ? skip + ofSlot : ofSlot;
      toSlot = last.slot;
      await pacer?.step();
    }
  }
  async function count(range: SlotInterval): Promise<number> {
    let rows = 0;
    if (certain.length > 0)
      rows += await store.count(poolRows, inRange(range), { anyOf: certain, via: poolRows.key });
    if (uncertain.length === 0) return rows;
    for await (const _ of matching(range, { anyOf: uncertain, wanted: ROWS_PER_READ.most })) rows += 1;
    return rows;
  }
  const countFilter = toCountFilter(filter);
  const match = createMatcher(countFilter);
  const name = JSON.stringify(["pool", pool, mint, countFilter]);
  return {
    async findCounted(toSlot, limit) {
      const found = await segments.before(`pool ${pool}`, { toSlot, limit });
      return found.map((segment) => {
        const group = segment.mints.indexOf(mint);
        if (group === -1) return toCountedRange(segment, { certain: 0, uncertain: 0 });
        return toCountedRange(segment, match(segment.counts, group));
      });
    },
    async find(range, { skip, limit }) {
      const page: TokenTransactionRow[] = [];
      if (uncertain.length === 0 && certain.length > 0) {
        // Each row that satisfies a filter has exactly one matching side: the store can count.
        const rows = await store.find(poolRows, {
          ...{ filter: inRange(range), anyOf: certain, order: NEWEST_FIRST, via: poolRows.key, skip, limit },
        });
        return rows.flatMap((row) => toTokenRows(row).filter((side) => matchesFilter(side, query.filter)));
      }
      let passed = 0;
      const wanted = { anyOf: [...certain, ...uncertain], wanted: skip + limit };
      for await (const row of matching(range, wanted)) {
        if (passed++ < skip) continue;
        page.push(row);
        if (page.length === limit) break;
      }
      return page;
    },
    count,
    recount: (run) => counts.get({ filter: name, firstSlot: run.fromSlot }, () => count(run)),
  };
}

/**
 * Filters for rows of a pool with a matching side: certain ones, and those where only the row gives the side's value. A
 * row has at most one side of a token.
 */
function sideFilters({ mint, txTypes, minValueUsd }: TokenListFilter): {
  certain: Filter<PoolTransactionRow>[];
  uncertain: Filter<PoolTransactionRow>[];
} {
  const isWanted = (type: (typeof TX_TYPES)[number]): boolean =>
    txTypes?.includes(TX_TYPES.indexOf(type)) ?? true;
  const trade = {
    kind: POOL_TX_TYPES.indexOf("trade"),
    ...(minValueUsd !== undefined && { valueUsd: { gte: minValueUsd } }),
  };
  const certain: Filter<PoolTransactionRow>[] = [];
  if (isWanted("sell")) certain.push({ ...trade, tokenIn: mint });
  if (isWanted("buy")) certain.push({ ...trade, tokenOut: mint });
  const changes = (["add_liquidity", "remove_liquidity"] as const).filter(isWanted).flatMap((type) => {
    const kind = POOL_TX_TYPES.indexOf(type);
    return [
      { kind, tokenIn: mint, amountIn: { gt: 0 } },
      { kind, tokenOut: mint, amountOut: { gt: 0 } },
    ];
  });
  return minValueUsd === undefined
    ? { certain: [...certain, ...changes], uncertain: [] }
    : { certain, uncertain: changes };
}

function matchesFilter(row: TokenTransactionRow, { mint, txTypes, minValueUsd }: TokenListFilter): boolean {
  return (
    row.mint === mint &&
    (txTypes === undefined || txTypes.includes(row.txType)) &&
    (minValueUsd === undefined || (row.valueUsd !== null && row.valueUsd >= minValueUsd))
  );
}
