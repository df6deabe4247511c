import type { Filter, OrderBy, Store } from "../../../shared/storage/port.ts";
import { createMatcher } from "../../metrics/segment-counts.ts";
import { type TokenTransactionRow, tokenRows } from "../../store/collections.ts";
import type { CountCache } from "./count-cache.ts";
import { toCountedRange } from "./counted-range.ts";
import type { PagedList, SlotInterval } from "./paging.ts";
import type { SegmentIndex } from "./segment-index.ts";

/** Filter of a token's list; absent fields do not filter. */
export interface TokenListFilter {
  readonly mint: string;
  /** Indexes into TX_TYPES; absent = all. */
  readonly txTypes?: readonly number[];
  /** Exchange by its number in rows. */
  readonly dex?: number;
  readonly minValueUsd?: number;
}

/** Caches of what is known about lists without reading their rows. */
export interface ListCaches {
  readonly segments: SegmentIndex;
  readonly counts: CountCache;
}

/** The key from its end: the order of the chain, backwards. */
const NEWEST_FIRST: readonly OrderBy<TokenTransactionRow>[] = [
  { field: "slot", direction: "desc" },
  { field: "transactionIndex", direction: "desc" },
  { field: "instructionIndex", direction: "desc" },
  { field: "leg", direction: "desc" },
];

/** Transactions of a token over all pools, newest first. */
export function tokenList(
  store: Store,
  query: ListCaches & { filter: TokenListFilter },
): PagedList<TokenTransactionRow> {
  const { filter, segments, counts } = query;
  const { mint, txTypes, dex, minValueUsd } = filter;
  const where = ({ fromSlot, toSlot }: SlotInterval): Filter<TokenTransactionRow> => ({
    mint,
    slot: { gte: fromSlot, lte: toSlot },
    ...(txTypes !== undefined && { txType: txTypes.length === 1 ? txTypes[0] : { in: txTypes } }),
    ...(dex !== undefined && { dex }),
    ...(minValueUsd !== undefined && { valueUsd: { gte: minValueUsd } }),
  });
  const countFilter = { ...toCountFilter(filter), ...(dex !== undefined && { group: dex }) };
  const match = createMatcher(countFilter);
  const name = JSON.stringify(["token", mint, countFilter]);
  const count = (range: SlotInterval): Promise<number> =>
    store.count(tokenRows, where(range), { via: tokenRows.key });
  return {
    async findCounted(toSlot, limit) {
      const found = await segments.before(`token ${mint}`, { toSlot, limit });
      return found.map((segment) => toCountedRange(segment, match(segment.counts, dex)));
    },
    find: (range, page) =>
      store.find(tokenRows, { filter: where(range), order: NEWEST_FIRST, via: tokenRows.key, ...page }),
    count,
    recount: (run) => counts.get({ filter: name, firstSlot: run.fromSlot }, () => count(run)),
  };
}

/** The part of a token's filter by which segments are counted. */
export function toCountFilter({ txTypes, minValueUsd }: TokenListFilter) {
  return {
    ...(txTypes !== undefined && { txTypes }),
    ...(minValueUsd !== undefined && { minValueUsd }),
  };
}
