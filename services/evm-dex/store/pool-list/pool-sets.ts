import type { Filter, OrderBy, Selection } from "../../../shared/storage/port.ts";
import { type PoolListingRow, type PoolRow, poolListings } from "../collections.ts";

export type PoolListField = Exclude<keyof PoolListingRow, "family" | "cells">;
export type Value = string | number;
export type Term = OrderBy<PoolListingRow> & { readonly field: PoolListField };

/** The pools of a family, optionally only those of a token, with some values, or in a range. */
export interface PoolSet {
  readonly chainId: number;
  readonly family: string;
  readonly token: string | undefined;
  /** Values that columns must have, and ranges. */
  readonly where: Filter<PoolListingRow>;
}

/** The same pools, fewer of them. */
export function within(set: PoolSet, where: Filter<PoolListingRow>): PoolSet {
  return { ...set, where: { ...set.where, ...where } };
}

export function filterOf(set: PoolSet): Filter<PoolListingRow> {
  return { chainId: set.chainId, family: set.family, ...set.where };
}

export function selectionOf(set: PoolSet): Selection<PoolListingRow> {
  const { token } = set;
  return token === undefined ? {} : { anyOf: [{ token0Address: token }, { token1Address: token }] };
}

/** Columns that the set pins to one value. */
export function pinnedIn(set: PoolSet): PoolListField[] {
  const names = Object.keys(set.where) as PoolListField[];
  return names.filter((name) => typeof set.where[name] !== "object");
}

/** The index of a column, or the key: addresses are in its order. */
export function indexOf(field: PoolListField): readonly (keyof PoolListingRow)[] {
  return field === "poolAddress" ? poolListings.key : ["chainId", "family", field];
}

/** The order of addresses among equal values in a column's index. Ties in createdAt run the other way. */
export function tieOf({ field, direction }: Term): Term {
  const opposite = direction === "asc" ? "desc" : "asc";
  return { field: "poolAddress", direction: field === "createdAt" ? opposite : direction };
}

/** Whether one index has the pools in this order. */
export function isServed(order: readonly Term[]): boolean {
  const [first, second] = order;
  if (first?.field === "poolAddress") return true;
  return (
    first !== undefined && second?.field === "poolAddress" && second.direction === tieOf(first).direction
  );
}

/** The bound of values that come after a value in the term's direction, or before it. */
export function after({ direction }: Term, isAfter: boolean): "gt" | "lt" {
  return (direction === "asc") === isAfter ? "gt" : "lt";
}

/** The values of a pool and those after it. */
export function startingAt(term: Term, at: Partial<Ordered>): Filter<PoolListingRow> {
  return { [term.field]: { [`${after(term, true)}e`]: at[term.field] } } as Filter<PoolListingRow>;
}

/** The values after those of a pool. */
export function following(term: Term, at: Partial<Ordered>): Filter<PoolListingRow> {
  return { [term.field]: { [after(term, true)]: at[term.field] } } as Filter<PoolListingRow>;
}

const NEWEST_FIRST: Term = { field: "createdAt", direction: "desc" };

/** The requested order, by default newest first, without redundant terms, ending in the address. */
export function completeOrder(order: readonly Term[]): Term[] {
  if (order.length === 0) return [NEWEST_FIRST, tieOf(NEWEST_FIRST)];
  // All pools of a list are on one chain.
  const terms = order.filter((term) => term.field !== "chainId");
  const address = terms.findIndex((term) => term.field === "poolAddress");
  if (address >= 0) return terms.slice(0, address + 1);
  const last = terms.at(-1);
  if (last === undefined) return order.map((term) => ({ ...term, field: "poolAddress" }));
  return [...terms, tieOf(last)];
}

type Ordered = Pick<PoolListingRow, PoolListField>;

/** Whether the pool stands before (negative) or after (positive) the other. */
export function comparePools(order: readonly Term[], a: Partial<Ordered>, b: Partial<Ordered>): number {
  for (const { field, direction } of order) {
    const sign = compareValues(a[field] as Value, b[field] as Value);
    if (sign !== 0) return direction === "asc" ? sign : -sign;
  }
  return 0;
}

/** In the store's order: numbers by size, text by its bytes. */
function compareValues(a: Value, b: Value): number {
  if (a === b) return 0;
  // JavaScript's own order of text differs where a character takes two code units.
  if (typeof a === "string" && typeof b === "string" && (SURROGATE.test(a) || SURROGATE.test(b)))
    return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : 1;
}

const SURROGATE = /[\uD800-\uDFFF]/;

/** Whether a pool is one of the set. */
export function isIn(set: PoolSet, pool: PoolRow): boolean {
  if (pool.chainId !== set.chainId || pool.family !== set.family) return false;
  const { token } = set;
  if (token !== undefined && pool.token0Address !== token && pool.token1Address !== token) return false;
  return pinnedIn(set).every((field) => pool[field] === set.where[field]);
}
