import type { Document } from "mongodb";
import type { CompiledCollection, DeclaredIndex, FieldInfo } from "../declaration.ts";
import type { ParsedSelection, Predicate } from "../query.ts";
import type { Stored } from "../values.ts";
import { type IdCondition, type IdRange, matchKey, sortOf } from "./key.ts";
import type { PageRequest } from "./nulls-last.ts";

/** A MongoDB query. Values are only strings, numbers, booleans and null, so none can act as an operator. */
export interface MongoQuery {
  readonly filter: Document;
  readonly sort: Record<string, 1 | -1>;
  /**
   * Where the order is the key's: filters of one range of keys each, which in turn match what `filter` matches, in
   * that order. One find for each is many times as fast as one find for all, in engines that do not join ranges.
   */
  readonly ranges?: readonly Document[];
  /** Names the index; absent leaves the choice to the server. */
  readonly hint?: string;
}

/**
 * Conditions on the key become a range of `_id`. On a sharded cluster the shard key's fields stay beside it: the router
 * finds the shard by them, and would ask every shard for `_id` alone.
 */
export function toMongoQuery(
  declared: CompiledCollection,
  {
    where,
    order,
    anyOf = [],
    via,
    sharded = false,
  }: Pick<PageRequest, "where" | "order"> & Partial<ParsedSelection> & { readonly sharded?: boolean },
): MongoQuery {
  const fixed = new Set(where.filter((p) => p.op === "eq" || p.op === "null").map((p) => p.field.name));
  const byKey = via === undefined ? keyServesBest(declared, { where, order }) : via === "key";
  const key = byKey ? matchKey(declared, where) : undefined;
  const isKept = ({ field }: Predicate): boolean => sharded && declared.shardKey.includes(field.name);
  const rest =
    key === undefined ? where : where.filter((predicate) => !key.covered.has(predicate) || isKept(predicate));
  const conditions = rest.map(conditionOf);
  const sort = sortOf(declared, order, fixed);
  const ranges =
    key !== undefined && key.conditions.length > 1 && anyOf.length === 0
      ? rangesOf(key.conditions, sort).map((range) => joined([...conditions, { _id: range }]))
      : [];
  if (key?.conditions.length === 1) conditions.push({ _id: key.conditions[0] });
  else if (key?.conditions.length === 0) conditions.push({ _id: { $in: [] } });
  else if (key !== undefined)
    conditions.push({ $or: key.conditions.map((condition) => ({ _id: condition })) });
  if (anyOf.length > 0)
    conditions.push({ $or: anyOf.map((predicates) => joined(predicates.map(conditionOf))) });
  return {
    ...{ filter: joined(conditions), sort },
    ...(ranges.length > 0 ? { ranges } : {}),
    // The kept fields must not draw the server to the shard key's own index, which has another order.
    ...hintOf(via ?? (sharded && key !== undefined ? "key" : undefined)),
  };
}

/** What to find, in this order: a page needs one find, all rows may be read range by range. */
export function findsOf(
  { filter, ranges }: MongoQuery,
  page: { skip: number; limit: number },
): readonly Document[] {
  const isAll = page.skip === 0 && page.limit === Number.POSITIVE_INFINITY;
  return isAll ? (ranges ?? [filter]) : [filter];
}

/** The ranges of keys in the order of the sort; none where that is not the key's. */
function rangesOf(conditions: readonly IdCondition[], sort: MongoQuery["sort"]): IdRange[] {
  const { _id: sign, ...others } = sort;
  if (sign === undefined || Object.keys(others).length > 0) return [];
  const ranges = conditions.filter(
    (condition): condition is IdRange => isRange(condition) && !("$in" in condition),
  );
  // Ranges of different prefixes do not overlap, so one end of each tells their order.
  const startOf = ({ $gte, $gt }: IdRange) => $gte ?? $gt ?? "";
  return ranges.sort((a, b) => (startOf(a) < startOf(b) ? -sign : sign));
}

function hintOf(via: ParsedSelection["via"]): { hint?: string } {
  if (via === undefined) return {};
  return { hint: via === "key" ? "_id_" : indexName(via) };
}

export function indexName({ fields, unique }: DeclaredIndex): string {
  return `by_${fields.join("_")}${unique ? "_unique" : ""}`;
}

/** All conditions: as one document where their fields differ, else by `$and`. */
function joined(conditions: readonly Document[]): Document {
  const filter: Document = {};
  for (const condition of conditions) {
    for (const [name, wanted] of Object.entries(condition)) {
      const before: unknown = filter[name];
      if (before === undefined) filter[name] = wanted;
      else if (
        isRange(before) &&
        isRange(wanted) &&
        !Object.keys(wanted).some((operator) => operator in before)
      ) {
        filter[name] = { ...before, ...wanted };
      } else return { $and: conditions };
    }
  }
  return filter;
}

function isRange(wanted: unknown): wanted is Document {
  return typeof wanted === "object" && wanted !== null && !Array.isArray(wanted);
}

const OPERATOR = { gt: "$gt", gte: "$gte", lt: "$lt", lte: "$lte" } as const;

function conditionOf(predicate: Predicate): Document {
  const { name } = predicate.field;
  switch (predicate.op) {
    case "eq":
      return { [name]: predicate.value };
    case "null":
      return { [name]: null };
    case "notNull":
      return { [name]: { $gte: leastOf(predicate.field) } };
    case "in":
      return { [name]: { $in: predicate.orNull ? [...predicate.values, null] : predicate.values } };
    default:
      return { [name]: { [OPERATOR[predicate.op]]: predicate.value } };
  }
}

/** A lower bound that every value satisfies and null does not: unlike `$ne: null` it is one range of an index. */
function leastOf(field: FieldInfo): Stored {
  if (field.type === "bool") return false;
  return field.type === "int" || field.type === "float" ? Number.NEGATIVE_INFINITY : "";
}

/**
 * Whether to filter by `_id` rather than by fields, which decides between the key and the declared indexes:
 * the longer prefix of fixed fields wins, then bounds on the next field, then the order; the key wins a tie.
 */
function keyServesBest(
  declared: CompiledCollection,
  { where, order }: Pick<PageRequest, "where" | "order">,
): boolean {
  const has = (name: string, ops: readonly Predicate["op"][]): boolean =>
    where.some((p) => p.field.name === name && ops.includes(p.op));
  const score = (names: readonly string[]): number => {
    let fixed = 0;
    while (fixed < names.length && has(names[fixed] as string, ["eq", "null", "in"])) fixed++;
    const next = names[fixed];
    if (next === undefined) return 4 * fixed;
    const bounded = has(next, ["gt", "gte", "lt", "lte", "notNull"]) ? 2 : 0;
    return 4 * fixed + bounded + (order[0]?.field.name === next ? 1 : 0);
  };
  const keyScore = score(declared.key.map((field) => field.name));
  return declared.indexes.every((index) => keyScore >= score(index.fields));
}

/**
 * Parses MongoDB's `explain`. "scan": a collection scan, or an index read from end to end although the
 * query filters or has no limit. "unknown" for an unknown format.
 */
export function planOfExplain(
  explained: Document,
  options: { filtered: boolean; limited: boolean },
): "index" | "scan" | "unknown" {
  const stages: Document[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const child of node) visit(child);
    else if (typeof node === "object" && node !== null) {
      if ("stage" in node) stages.push(node);
      for (const child of Object.values(node)) visit(child);
    }
  };
  visit((explained.queryPlanner as Document | undefined)?.winningPlan);
  const names = stages.map((stage) => String(stage.stage));
  if (names.includes("COLLSCAN")) return "scan";
  if (names.some((name) => name === "IDHACK" || name === "EOF" || name.startsWith("EXPRESS"))) return "index";
  const reads = stages.filter((stage) => /^(IXSCAN|COUNT_SCAN|DISTINCT_SCAN)$/.test(String(stage.stage)));
  if (reads.length === 0) return "unknown";
  const whole = reads.some((stage) => {
    const bounds = Object.values((stage.indexBounds ?? {}) as Document).flat();
    return (
      bounds.length > 0 &&
      bounds.every((bound) => /^\[(MinKey, MaxKey|MaxKey, MinKey)\]$/.test(String(bound)))
    );
  });
  if (!whole) return "index";
  return options.filtered || !options.limited || names.includes("SORT") ? "scan" : "index";
}
