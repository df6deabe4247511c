import type { CompiledCollection, DeclaredIndex, FieldInfo } from "./declaration.ts";
import type { OrderBy } from "./port.ts";
import type { Stored } from "./values.ts";

/** One condition of a filter, checked, its values in stored form. */
export type Predicate =
  | { readonly field: FieldInfo; readonly op: "eq" | "gt" | "gte" | "lt" | "lte"; readonly value: Stored }
  | { readonly field: FieldInfo; readonly op: "null" | "notNull" }
  | {
      readonly field: FieldInfo;
      readonly op: "in";
      readonly values: readonly Stored[];
      readonly orNull: boolean;
    };

export interface OrderTerm {
  readonly field: FieldInfo;
  readonly direction: "asc" | "desc";
  /** Whether nulls can occur: false if the filter excludes them. */
  readonly nullable: boolean;
}

/** Rows match if they satisfy `where` and, if there are alternatives, one of them. */
export interface ParsedSelection {
  readonly where: readonly Predicate[];
  readonly anyOf: readonly (readonly Predicate[])[];
  readonly via: DeclaredIndex | "key" | undefined;
}

export interface ParsedQuery extends ParsedSelection {
  /** A total order: no two rows are equal, so that pages never overlap. */
  readonly order: readonly OrderTerm[];
  readonly skip: number;
  /** Infinity when absent. */
  readonly limit: number;
  readonly fields: readonly FieldInfo[];
}

export type Encoders = ReadonlyMap<string, (value: unknown) => Stored>;

/** A query without the type of its collection. */
export interface UntypedQuery {
  readonly filter?: Readonly<Record<string, unknown>>;
  readonly anyOf?: readonly Readonly<Record<string, unknown>>[];
  readonly via?: readonly string[];
  readonly order?: readonly OrderBy<Record<string, unknown>>[];
  readonly skip?: number;
  readonly limit?: number;
  readonly fields?: readonly PropertyKey[];
}

/** More values than this in one `in` are refused: SQLite has 32,766 parameters a statement. */
export const MAX_IN_VALUES = 16_384;
const BOUNDS = ["gt", "gte", "lt", "lte"] as const;

/** @throws TypeError that names collection, field and fault. */
export function parseFilter(
  declared: CompiledCollection,
  encoders: Encoders,
  filter: Readonly<Record<string, unknown>>,
): Predicate[] {
  const predicates: Predicate[] = [];
  for (const [name, condition] of Object.entries(filter)) {
    const field = declared.byName.get(name);
    const fail = (fault: string): never => {
      throw new TypeError(`Cannot filter ${declared.name}.${name}: ${fault}`);
    };
    if (field === undefined) return fail("there is no such field");
    if (field.type === "json") return fail("json is not filterable");
    const encode = encoders.get(name) as (value: unknown) => Stored;
    if (condition === null) predicates.push({ field, op: "null" });
    else if (typeof condition !== "object") predicates.push({ field, op: "eq", value: encode(condition) });
    else predicates.push(...parseCondition(condition as Record<string, unknown>, { field, encode, fail }));
  }
  return predicates;
}

function parseCondition(
  condition: Readonly<Record<string, unknown>>,
  {
    field,
    encode,
    fail,
  }: { field: FieldInfo; encode: (value: unknown) => Stored; fail: (fault: string) => never },
): Predicate[] {
  const operators = Object.keys(condition);
  if (operators.length === 1 && operators[0] === "in") {
    const values = condition.in;
    if (!Array.isArray(values)) return fail('"in" needs a list');
    if (values.length > MAX_IN_VALUES) return fail(`${values.length} values are above ${MAX_IN_VALUES}`);
    const present = values.filter((value) => value !== null);
    return [
      { field, op: "in", values: [...new Set(present.map(encode))], orNull: present.length < values.length },
    ];
  }
  if (operators.length === 0) return fail("the condition is empty");
  return operators.map((operator): Predicate => {
    const op = BOUNDS.find((bound) => bound === operator) ?? fail(`"${operator}" is not an operator`);
    if (condition[op] === null) return fail("null is not a bound");
    return { field, op, value: encode(condition[op]) };
  });
}

/**
 * The order with every tie broken: fields fixed by the filter are left out, and unless the rest already is a total order,
 * the key follows in the direction of the last field (so that one index can serve it).
 */
export function completeOrder(
  declared: CompiledCollection,
  where: readonly Predicate[],
  order: readonly OrderBy<Record<string, unknown>>[],
): OrderTerm[] {
  const fixed = new Set(where.filter((p) => p.op === "eq" || p.op === "null").map((p) => p.field.name));
  const terms: OrderTerm[] = [];
  const present = new Set(where.filter(excludesNull).map((p) => p.field.name));
  const add = (field: FieldInfo, direction: "asc" | "desc"): void => {
    if (fixed.has(field.name)) return;
    fixed.add(field.name);
    terms.push({ field, direction, nullable: field.nullable && !present.has(field.name) });
  };
  for (const { field: name, direction } of order) {
    const field = declared.byName.get(name);
    if (field === undefined || field.type === "json")
      throw new TypeError(`Cannot order ${declared.name} by "${name}"`);
    if (direction !== "asc" && direction !== "desc")
      throw new TypeError(`Cannot order ${declared.name}.${name} by "${String(direction)}"`);
    add(field, direction);
  }
  const unique = declared.indexes.filter((index) => index.unique).map((index) => index.fields);
  if (unique.some((fields) => fields.every((field) => fixed.has(field)))) return terms;
  const direction = order.at(-1)?.direction ?? "asc";
  for (const field of declared.key) add(field, direction);
  return terms;
}

function excludesNull(predicate: Predicate): boolean {
  return predicate.op !== "null" && !(predicate.op === "in" && predicate.orNull);
}

/** The fields of a sum, which must be numbers. @throws TypeError that names collection and field. */
/** @throws TypeError for a name that no field has. */
export function fieldsNamed(declared: CompiledCollection, names: readonly string[]): FieldInfo[] {
  return names.map((name) => {
    const field = declared.byName.get(name);
    if (field === undefined)
      throw new TypeError(`Cannot read ${declared.name}.${name}: there is no such field`);
    return field;
  });
}

export function summable(declared: CompiledCollection, names: readonly string[]): FieldInfo[] {
  return names.map((name) => {
    const field = declared.byName.get(name);
    if (field?.type !== "int" && field?.type !== "float")
      throw new TypeError(`Cannot sum ${declared.name}.${name}: it is not an int or float field`);
    return field;
  });
}

/** The totals of `fields` from an engine's result. @throws RangeError if a total is not exact or not finite. */
export function totalsOf(
  declared: CompiledCollection,
  fields: readonly FieldInfo[],
  totals: readonly unknown[],
): Record<string, number> {
  return Object.fromEntries(
    fields.map(({ name, type }, i) => {
      const total = Number(totals[i] ?? 0) + 0;
      if (type === "int" ? Number.isSafeInteger(total) : Number.isFinite(total)) return [name, total];
      throw tooLarge(declared, name);
    }),
  );
}

export function tooLarge(declared: CompiledCollection, what: string): RangeError {
  return new RangeError(`Cannot sum ${what} of ${declared.name}: the total is too large`);
}

/** @throws TypeError that names collection and fault. */
export function parseSelection(
  declared: CompiledCollection,
  encoders: Encoders,
  query: Pick<UntypedQuery, "filter" | "anyOf" | "via">,
): ParsedSelection {
  if (query.anyOf?.length === 0) throw new TypeError(`Cannot read ${declared.name}: anyOf is empty`);
  return {
    where: parseFilter(declared, encoders, query.filter ?? {}),
    anyOf: (query.anyOf ?? []).map((filter) => parseFilter(declared, encoders, filter)),
    via: query.via === undefined ? undefined : indexOf(declared, query.via),
  };
}

function indexOf(declared: CompiledCollection, fields: readonly string[]): DeclaredIndex | "key" {
  const isSame = (names: readonly string[]): boolean =>
    names.length === fields.length && names.every((name, i) => name === fields[i]);
  if (isSame(declared.key.map((field) => field.name))) return "key";
  const index = declared.indexes.find((each) => isSame(each.fields));
  if (index === undefined)
    throw new TypeError(`Cannot read ${declared.name} via ${fields.join(", ")}: there is no such index`);
  return index;
}

export function parseQuery(
  declared: CompiledCollection,
  encoders: Encoders,
  query: UntypedQuery,
): ParsedQuery {
  const selection = parseSelection(declared, encoders, query);
  const { where } = selection;
  const count = (name: "skip" | "limit", absent: number): number => {
    const value = query[name];
    if (value === undefined) return absent;
    if (!Number.isSafeInteger(value) || value < 0)
      throw new TypeError(`Cannot ${name} ${value} rows of ${declared.name}`);
    return value;
  };
  const fields = query.fields?.map((name) => {
    const field = declared.byName.get(String(name));
    if (field === undefined)
      throw new TypeError(`Cannot read ${declared.name}.${String(name)}: there is no such field`);
    return field;
  });
  return {
    ...selection,
    order: completeOrder(declared, where, query.order ?? []),
    skip: count("skip", 0),
    limit: count("limit", Number.POSITIVE_INFINITY),
    fields: fields ?? declared.fields,
  };
}
