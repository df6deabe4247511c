import type { Filter, OrderBy, Store } from "../../shared/storage/port.ts";
import { countMatching } from "../metrics/stretch-counts.ts";
import { type TokenRowRow, tokenRows } from "../store/collections.ts";
import { runOf } from "./counted-run.ts";
import type { PagedList, SlotRange } from "./paging.ts";
import type { StretchCache } from "./stretch-cache.ts";

/** What a token's list is asked for by; what is absent says nothing. */
export interface TokenListFilter {
  readonly mint: string;
  /** Indexes into TX_TYPES; absent = all. */
  readonly txTypes?: readonly number[];
  /** Exchange by its number in rows. */
  readonly dex?: number;
  readonly minValueUsd?: number;
}

/** The key from its end: slot, instruction, signature and leg all descending. */
const NEWEST_FIRST: readonly OrderBy<TokenRowRow>[] = [
  { field: "slot", direction: "desc" },
  { field: "instructionIndex", direction: "desc" },
  { field: "signature", direction: "desc" },
  { field: "leg", direction: "desc" },
];

/** Transactions of a token over all pools, the newest first. */
export function tokenList(
  store: Store,
  of: { filter: TokenListFilter; stretches: StretchCache },
): PagedList<TokenRowRow> {
  const { mint, txTypes, dex, minValueUsd } = of.filter;
  const where = ({ lo, hi }: SlotRange): Filter<TokenRowRow> => ({
    mint,
    slot: { gte: lo, lte: hi },
    ...(txTypes !== undefined && { txType: txTypes.length === 1 ? txTypes[0] : { in: txTypes } }),
    ...(dex !== undefined && { dex }),
    ...(minValueUsd !== undefined && { valueUsd: { gte: minValueUsd } }),
  });
  const counted = {
    ...(txTypes !== undefined && { txTypes }),
    ...(dex !== undefined && { who: dex }),
    ...(minValueUsd !== undefined && { minValueUsd }),
  };
  return {
    async counted(hi, limit) {
      const found = await of.stretches.before(`token ${mint}`, { hi, limit });
      return found.map((stretch) => runOf(stretch, countMatching(stretch.counts, counted)));
    },
    find: (range, page) =>
      store.find(tokenRows, { filter: where(range), order: NEWEST_FIRST, via: tokenRows.key, ...page }),
    count: (range) => store.count(tokenRows, where(range), { via: tokenRows.key }),
  };
}
