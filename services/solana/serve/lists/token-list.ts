import type { Filter, OrderBy, Store } from "../../../shared/storage/port.ts";
import { createMatcher } from "../../metrics/segment-counts.ts";
import { type TokenTransactionRow, tokenRows } from "../../store/collections.ts";
import type { CountCache } from "./count-cache.ts";
import { toCountedRange } from "./counted-range.ts";
import type { PagedList, SlotInterval } from "./paging.ts";
import type { SegmentIndex } from "./segment-index.ts";

/** What a token's list is asked for by; what is absent says nothing. */
export interface TokenListFilter {
  readonly mint: string;
  /** Indexes into TX_TYPES; absent = all. */
  readonly txTypes?: readonly number[];
  /** Exchange by its number in rows. */
  readonly dex?: number;
  readonly minValueUsd?: number;
}

/** What is known of lists without their rows. */
export interface ListCaches {
  readonly segments: SegmentIndex;
  readonly counts: CountCache;
}

/** The key from its end: slot, instruction, signature and leg all descending. */
const NEWEST_FIRST: readonly OrderBy<TokenTransactionRow>[] = [
  { field: "slot", direction: "desc" },
  { field: "instructionIndex", direction: "desc" },
  { field: "signature", direction: "desc" },
  { field: "leg", direction: "desc" },
];

/** Transactions of a token over all pools, the newest first. */
export function tokenList(
  store: Store,
  of: ListCaches & { filter: TokenListFilter },
): PagedList<TokenTransactionRow> {
  const { filter, segments, counts } = of;
  const { mint, txTypes, dex, minValueUsd } = filter;
  const where = ({ fromSlot, toSlot }: SlotInterval): Filter<TokenTransactionRow> => ({
    mint,
    slot: { gte: fromSlot, lte: toSlot },
    ...(txTypes !== undefined && { txType: txTypes.length === 1 ? txTypes[0] : { in: txTypes } }),
    ...(dex !== undefined && { dex }),
    ...(minValueUsd !== undefined && { valueUsd: { gte: minValueUsd } }),
  });
  const asked = { ...toCountFilter(filter), ...(dex !== undefined && { group: dex }) };
  const match = createMatcher(asked);
  const name = JSON.stringify(["token", mint, asked]);
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

/** What segments are counted by, of a token's filter. */
export function toCountFilter({ txTypes, minValueUsd }: TokenListFilter) {
  return {
    ...(txTypes !== undefined && { txTypes }),
    ...(minValueUsd !== undefined && { minValueUsd }),
  };
}
