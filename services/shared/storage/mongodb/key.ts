/**
 * The key of a row as one string, `_id`, whose byte order is the order of the key's fields.
 *
 * Fields are joined by a space, the lowest character left in any part: text has space, "!" and everything below
 * escaped as "!" and a character; numbers are their digits after one character for their number of digits,
 * complemented below zero. `{ chain: 8453, block: 19000000, logIndex: 7 }` is "48453 819000000 17".
 */
import type { CompiledCollection, FieldInfo } from "../declaration.ts";
import type { OrderTerm, Predicate } from "../query.ts";
import type { Stored } from "../values.ts";

const SEPARATOR = " ";
/** Sorts after every continuation of a prefix with the separator, and before every longer text. */
const AFTER_SEPARATOR = "!";
/** With more prefix ranges than this the engine evaluates the fields itself. */
const MAX_PREFIXES = 100;
/** The same for whole keys in one query. */
const MAX_IDS = 20_000;

function encodePart(field: FieldInfo, stored: Stored): string {
  switch (field.type) {
    case "int":
      return encodeInt(stored as number);
    case "bool":
      return stored === true ? "1" : "0";
    case "bigint":
      return stored as string;
    default:
      return (stored as string).replace(/[\0-!]/g, (c) => `!${String.fromCharCode(c.charCodeAt(0) + 48)}`);
  }
}

const DIGIT_COUNT = "0123456789abcdefg";

function encodeInt(value: number): string {
  if (value >= 0) {
    const digits = String(value);
    return DIGIT_COUNT[digits.length] + digits;
  }
  const digits = String(-value);
  let complement = "";
  for (let i = 0; i < digits.length; i++) complement += 9 - (digits.charCodeAt(i) - 48);
  return `-${DIGIT_COUNT[16 - digits.length]}${complement}`;
}

/** The `_id` of a row; `values` are the key's values in stored form, in key order. */
export function idOf(declared: CompiledCollection, values: readonly Stored[]): string {
  let id = "";
  for (let i = 0; i < declared.key.length; i++) {
    if (i > 0) id += SEPARATOR;
    id += encodePart(declared.key[i] as FieldInfo, values[i] as Stored);
  }
  return id;
}

export type IdCondition = string | { readonly $in: readonly string[] } | IdRange;
export interface IdRange {
  readonly $gt?: string;
  readonly $gte?: string;
  readonly $lt?: string;
  readonly $lte?: string;
}

export interface KeyMatch {
  /** Alternatives: a row matches if its `_id` satisfies one. */
  readonly conditions: readonly IdCondition[];
  /** The predicates that the conditions cover in full. */
  readonly covered: ReadonlySet<Predicate>;
}

/** The conditions of a filter on a prefix of the key, as conditions on `_id`; undefined without any. */
export function matchKey(declared: CompiledCollection, where: readonly Predicate[]): KeyMatch | undefined {
  const covered = new Set<Predicate>();
  let prefixes = [""];
  for (const [position, field] of declared.key.entries()) {
    const last = position === declared.key.length - 1;
    const exact = exactValues(where, field);
    if (exact === undefined || exact.values.length * prefixes.length > (last ? MAX_IDS : MAX_PREFIXES)) {
      const bounds = boundsOf(where, field);
      for (const bound of bounds) covered.add(bound);
      if (covered.size === 0) return undefined;
      return { conditions: prefixes.map((prefix) => rangeOf(prefix, { bounds, last })), covered };
    }
    covered.add(exact.predicate);
    const end = last ? "" : SEPARATOR;
    prefixes = prefixes.flatMap((prefix) =>
      exact.values.map((value) => prefix + encodePart(field, value) + end),
    );
  }
  return { conditions: prefixes.length === 1 ? prefixes : [{ $in: prefixes }], covered };
}

function exactValues(
  where: readonly Predicate[],
  field: FieldInfo,
): { predicate: Predicate; values: readonly Stored[] } | undefined {
  for (const predicate of where) {
    if (predicate.field !== field) continue;
    if (predicate.op === "eq") return { predicate, values: [predicate.value] };
    if (predicate.op === "in") return { predicate, values: predicate.values };
  }
  return undefined;
}

type Bound = Predicate & { readonly op: "gt" | "gte" | "lt" | "lte" };

/** At most one lower and one upper bound; further bounds stay conditions on the field. */
function boundsOf(where: readonly Predicate[], field: FieldInfo): Bound[] {
  const find = (...ops: Bound["op"][]): Bound | undefined =>
    where.find((p): p is Bound => p.field === field && ops.includes(p.op as Bound["op"]));
  return [find("gt", "gte"), find("lt", "lte")].filter((bound) => bound !== undefined);
}

/**
 * All `_id`s that begin with the prefix (which is empty or ends in a separator) and go on within the bounds.
 * Unless the bounds are on the key's last field, rows that share a bound's value go on after it.
 */
function rangeOf(prefix: string, { bounds, last }: { bounds: readonly Bound[]; last: boolean }): IdRange {
  let from: IdRange = prefix === "" ? {} : { $gte: prefix };
  let to: IdRange = prefix === "" ? {} : { $lt: prefix.slice(0, -1) + AFTER_SEPARATOR };
  for (const { field, op, value } of bounds) {
    const edge = prefix + encodePart(field, value);
    if (op === "gte") from = { $gte: edge };
    else if (op === "gt") from = last ? { $gt: edge } : { $gte: edge + AFTER_SEPARATOR };
    else if (op === "lt") to = { $lt: edge };
    else to = last ? { $lte: edge } : { $lt: edge + AFTER_SEPARATOR };
  }
  return { ...from, ...to };
}

/**
 * The order with its end replaced by `_id` where that end is the rest of the key in one direction
 * (`fixed` are fields that the filter pins to one value).
 */
export function sortOf(
  declared: CompiledCollection,
  order: readonly OrderTerm[],
  fixed: ReadonlySet<string>,
): Record<string, 1 | -1> {
  const sign = (term: OrderTerm): 1 | -1 => (term.direction === "asc" ? 1 : -1);
  for (let from = 0; from < order.length; from++) {
    const tail = order.slice(from);
    const earlier = new Set([...fixed, ...order.slice(0, from).map((term) => term.field.name)]);
    const rest = declared.key.filter((field) => !earlier.has(field.name));
    const isKeyEnd = tail.length === rest.length && tail.every((term, i) => term.field === rest[i]);
    if (isKeyEnd && tail.every((term) => term.direction === tail[0]?.direction)) {
      const head = order.slice(0, from).map((term) => [term.field.name, sign(term)] as const);
      return Object.fromEntries([...head, ["_id", sign(tail[0] as OrderTerm)]]);
    }
  }
  return Object.fromEntries(order.map((term) => [term.field.name, sign(term)]));
}
