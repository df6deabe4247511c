import type { PortalBlock } from "./block.ts";
import { type ToldLie, tell } from "./lies.ts";
import { parseQuery } from "./query.ts";
import type { QueryRange } from "./query-members.ts";
import { asksFor, type Selection, selectLine } from "./select.ts";

/** A query that was read, and what it makes of blocks. */
export interface ReadQuery extends QueryRange {
  select(block: PortalBlock, options: { readonly nullFields?: boolean }): Selection;
  /** The block as a lying portal has it; null = hidden. */
  tell(block: PortalBlock, lies: readonly ToldLie[]): PortalBlock | null;
}

/** What differs between the types of chains. */
export interface PortalDialect {
  /** Throws BadQuery. */
  readQuery(text: string, options: { startBlock: number }): ReadQuery;
}

export const evmDialect: PortalDialect = {
  readQuery(text, options) {
    const query = parseQuery(text, options);
    const isAsked = asksFor(query);
    return {
      ...query,
      select: (block, more) => selectLine(block, query, more),
      tell: (block, lies) => tell(block, lies, isAsked),
    };
  },
};
