import type { Filter, OrderBy, Store } from "../../shared/storage/port.ts";
import { matcherOf } from "../metrics/stretch-counts.ts";
import { type TokenRowRow, tokenRows } from "../store/collections.ts";
import type { CountMemory } from "./count-memory.ts";
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

/** What is known of lists without their rows. */
export interface ListMemory {
  readonly stretches: StretchCache;
  readonly counts: CountMemory;
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
  of: ListMemory & { filter: TokenListFilter },
): PagedList<TokenRowRow> {
  const { filter, stretches, counts } = of;
  const { mint, txTypes, dex, minValueUsd } = filter;
  const where = ({ lo, hi }: SlotRange): Filter<TokenRowRow> => ({
    mint,
    slot: { gte: lo, lte: hi },
    ...(txTypes !== undefined && { txType: txTypes.length === 1 ? txTypes[0] : { in: txTypes } }),
    ...(dex !== undefined && { dex }),
    ...(minValueUsd !== undefined && { valueUsd: { gte: minValueUsd } }),
  });
  const asked = { ...countFilterOf(filter), ...(dex !== undefined && { who: dex }) };
  const match = matcherOf(asked);
  const name = JSON.stringify(["token", mint, asked]);
  const count = (range: SlotRange): Promise<number> =>
    store.count(tokenRows, where(range), { via: tokenRows.key });
  return {
    async counted(hi, limit) {
      const found = await stretches.before(`token ${mint}`, { hi, limit });
      return found.map((stretch) => runOf(stretch, match(stretch.counts, dex)));
    },
    find: (range, page) =>
      store.find(tokenRows, { filter: where(range), order: NEWEST_FIRST, via: tokenRows.key, ...page }),
    count,
    recount: (run) => counts.of({ filter: name, firstSlot: run.lo }, () => count(run)),
  };
}

/** What stretches are counted by, of a token's filter. */
export function countFilterOf({ txTypes, minValueUsd }: TokenListFilter) {
  return {
    ...(txTypes !== undefined && { txTypes }),
    ...(minValueUsd !== undefined && { minValueUsd }),
  };
}
