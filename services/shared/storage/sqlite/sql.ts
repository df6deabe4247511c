import {
  type CompiledCollection,
  type DeclaredIndex,
  type Extension,
  type FieldInfo,
  fieldsBesideKey,
} from "../declaration.ts";
import type { OrderTerm, ParsedQuery, ParsedSelection, Predicate } from "../query.ts";
import type { Dialect, Stored } from "../values.ts";
import type { Cell } from "./cell.ts";
import type { PackedKeys } from "./keys/packed-keys.ts";

/** SQL with its parameters; values never become part of the text. */
export interface Sql {
  readonly text: string;
  readonly params: readonly Stored[];
}

/** One that changes rows. */
export interface Change {
  readonly text: string;
  readonly params: readonly Cell[];
}

const COLUMN_TYPE = {
  text: "TEXT",
  hex: "BLOB",
  int: "INTEGER",
  float: "REAL",
  bool: "INTEGER",
  bigint: "TEXT",
  json: "TEXT",
} as const;
/** Approximate bytes of a value, to choose the table's layout. */
const COLUMN_BYTES = { text: 40, hex: 26, int: 4, float: 8, bool: 1, bigint: 24, json: 400 } as const;
/** A 20th of a page of 8 KiB: beyond it, SQLite's advice against WITHOUT ROWID holds (rows also fill the inner nodes). */
const CLUSTERED_ROW_BYTES = 400;
/**
 * A collection with more indexes than this is paged through them. In a rowid table the rows that a page skips are passed
 * in the index alone (0.05 µs each); without rowids each is looked up first (2 µs).
 */
const CLUSTERED_INDEXES = 2;

/**
 * Booleans are 0 and 1. Text is cut at NUL by the driver, and token symbols on chain do hold NULs: NUL and \x01
 * are written as \x01\x01 and \x01\x02, which keeps the order of all text.
 */
export const SQLITE_DIALECT: Dialect = {
  bool: { encode: (value) => (value ? 1 : 0), decode: (stored) => stored === 1 },
  text: {
    encode: (value) =>
      value.includes("\0") || value.includes("\x01")
        ? value.replaceAll("\x01", "\x01\x02").replaceAll("\0", "\x01\x01")
        : value,
    // Replaced from the left, so that a run of \x01 is split into whole escapes.
    decode: (stored) =>
      stored.includes("\x01") ? stored.replaceAll("\x01\x01", "\0").replaceAll("\x01\x02", "\x01") : stored,
  },
};

/** Names are checked by compileCollection: letters, digits and _ only. */
const quoted = (name: string): string => `"${name}"`;
const list = (fields: readonly FieldInfo[]): string => fields.map((field) => quoted(field.name)).join(", ");

/**
 * A field's value as it is read. Hex is stored as its bytes: half as long, in the same order. Nothing is "", as the length of
 * nothing is 0, and null is null.
 */
function readSql({ name, type }: FieldInfo, from = ""): string {
  const column = `${from}${quoted(name)}`;
  return type === "hex" ? `substr('0x', 1, 2 * length(${column})) || lower(hex(${column}))` : column;
}

const readListSql = (fields: readonly FieldInfo[], from?: string): string =>
  fields.map((field) => readSql(field, from)).join(", ");

/** A text that a field is compared with. Rows are written as bytes (cell.ts): half the work. */
function valueSql({ type }: FieldInfo, value = "?"): string {
  return type === "hex" ? `unhex(substr(${value}, 3))` : value;
}

/**
 * Statements that create table and indexes. Narrow rows live in key order (WITHOUT ROWID); wide rows, and those of a
 * heap, in order of arrival with the key as an index. Measured with 400,000 rows: inserts and reads differ by less than
 * 15 % either way while all is cached, so the rule follows file size and fan-out. Indexes end with the key: ties come out
 * in key order without sorting.
 */
export function createSql(declared: CompiledCollection): string[] {
  const { name, fields, key } = declared;
  const columns = fields.map(
    (field) => `${quoted(field.name)} ${COLUMN_TYPE[field.type]}${field.nullable ? "" : " NOT NULL"}`,
  );
  const rowBytes = fields.reduce((sum, field) => sum + COLUMN_BYTES[field.type], 0);
  const clustered =
    declared.layout !== "heap" &&
    rowBytes <= CLUSTERED_ROW_BYTES &&
    declared.indexes.length <= CLUSTERED_INDEXES;
  const layout = clustered ? "STRICT, WITHOUT ROWID" : "STRICT";
  const table = `CREATE TABLE ${quoted(name)} (${columns.join(", ")}, PRIMARY KEY (${list(key)})) ${layout}`;
  return [table, ...createIndexesSql(declared, declared.indexes)];
}

/** One row where a table has any. */
export function firstRowSql(name: string): string {
  return `SELECT 1 FROM ${quoted(name)} LIMIT 1`;
}

export function dropSql(name: string): string {
  return `DROP TABLE IF EXISTS ${quoted(name)}`;
}

/** Statements for what a stored collection lacks, and has too many: see extensionOf. */
export function extendSql(declared: CompiledCollection, { fields, indexes, former }: Extension): string[] {
  const columns = fields.map(
    (field) =>
      `ALTER TABLE ${quoted(declared.name)} ADD COLUMN ${quoted(field.name)} ${COLUMN_TYPE[field.type]}`,
  );
  const dropped = former.map((index) => `DROP INDEX IF EXISTS ${quoted(indexName(declared.name, index))}`);
  return [...columns, ...dropped, ...createIndexesSql(declared, indexes)];
}

function createIndexesSql({ name, key }: CompiledCollection, indexes: readonly DeclaredIndex[]): string[] {
  return indexes.map((index) => {
    const rest = index.unique
      ? []
      : key.map((field) => field.name).filter((field) => !index.fields.includes(field));
    const indexed = [...index.fields, ...rest, ...index.carries]
      .map((field) => (index.descending.has(field) ? `${quoted(field)} DESC` : quoted(field)))
      .join(", ");
    return `CREATE ${index.unique ? "UNIQUE " : ""}INDEX ${quoted(indexName(name, index))} ON ${quoted(name)} (${indexed})`;
  });
}

function indexName(table: string, index: DeclaredIndex): string {
  return `${table}_by_${index.fields.join("_")}${index.unique ? "_unique" : ""}`;
}

/** FROM and WHERE of a selection. */
function fromSql(declared: CompiledCollection, { where, anyOf, via }: ParsedSelection): Sql {
  const { name } = declared;
  // The name SQLite gives the index of a primary key, with and without rowids.
  const index = via === "key" ? `sqlite_autoindex_${name}_1` : via && indexName(name, via);
  const hint = index === undefined ? "" : ` INDEXED BY ${quoted(index)}`;
  const condition = whereSql(where, anyOf);
  return { text: `${quoted(name)}${hint}${condition.text}`, params: condition.params };
}

/**
 * Inserts or replaces rows; a clash with another row's unique index stays an error (INSERT OR REPLACE would delete that
 * row).
 */
export function upsertSql(declared: CompiledCollection, rows = 1): string {
  const rest = fieldsBesideKey(declared);
  const update = rest.map((field) => `${quoted(field.name)} = excluded.${quoted(field.name)}`).join(", ");
  return `${insertSql(declared, rows)} ON CONFLICT (${list(declared.key)}) DO ${rest.length === 0 ? "NOTHING" : `UPDATE SET ${update}`}`;
}

export function insertIfAbsentSql(declared: CompiledCollection): string {
  return `${insertSql(declared)} ON CONFLICT (${list(declared.key)}) DO NOTHING`;
}

function insertSql(declared: CompiledCollection, rows = 1): string {
  const row = `(${declared.fields.map(() => "?").join(", ")})`;
  return `INSERT INTO ${quoted(declared.name)} (${list(declared.fields)}) VALUES ${Array(rows).fill(row).join(", ")}`;
}

/** Replaces the row that matches; parameters are all fields in order, then those of `where`. */
export function updateSql(declared: CompiledCollection, where: readonly Predicate[]): Sql {
  const condition = whereSql(where);
  const assignments = declared.fields.map((field) => `${quoted(field.name)} = ?`).join(", ");
  return {
    text: `UPDATE ${quoted(declared.name)} SET ${assignments}${condition.text}`,
    params: condition.params,
  };
}

export function deleteSql(declared: CompiledCollection, where: readonly Predicate[]): Sql {
  const condition = whereSql(where);
  return { text: `DELETE FROM ${quoted(declared.name)}${condition.text}`, params: condition.params };
}

/** Parameters are the key's values in order. */
export function selectByKeySql(declared: CompiledCollection): string {
  return `SELECT ${readListSql(declared.fields)} FROM ${quoted(declared.name)} WHERE ${keySql(declared)}`;
}

/**
 * The rows with some keys. One parameter: a JSON list of keys, each a list of the key's values in order. One statement
 * for thousands of keys, since calling the driver costs several times what a look-up does. No key holds a float,
 * which JSON would round.
 */
export function selectByKeysSql(declared: CompiledCollection): string {
  const same = declared.key.map((field, i) => `row.${quoted(field.name)} = ${keyValueSql(field, i)}`);
  return selectEachSql(declared, same);
}

/**
 * As selectByKeysSql, for packed keys, whose lengths are parameters: one statement for each collection. A row is the number of
 * its key, then the fields that are no part of it.
 */
export function selectPackedSql(
  declared: CompiledCollection,
  { fields }: Pick<PackedKeys, "fields">,
): string {
  const same = fields.map(({ field, form }, i) => {
    const bytes = `substr(?1, ?${4 + 2 * i} + ?3 * k.i, ?${5 + 2 * i})`;
    const value = form === "hex" ? bytes : `CAST(${bytes} AS ${form === "integer" ? "INTEGER" : "TEXT"})`;
    return `row.${quoted(field.name)} = ${value}`;
  });
  const columns = ["k.i", ...fieldsBesideKey(declared).map((field) => readSql(field, "row."))];
  const numbers = "WITH RECURSIVE k(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i + 1 < ?2)";
  return `${numbers} SELECT ${columns.join(", ")} FROM k CROSS JOIN ${quoted(declared.name)} AS row WHERE ${same.join(" AND ")}`;
}

/** Of selectPackedSql, for some of the keys, of which there must be one. */
export function packedParams({ fields, bytes, width }: PackedKeys, from: number, to: number): Cell[] {
  const places = fields.flatMap(({ at, length }) => [at + 1, length]);
  return [bytes.subarray(width * from, width * to), to - from, width, ...places];
}

/**
 * For each list of values of `fields` the row with them, or the last before it that differs in the last of them alone. Those
 * are the key's, or the leading ones of an index; of rows that are the same in them, the last by key. The parameter is as for
 * selectByKeysSql.
 */
export function selectLastSql(declared: CompiledCollection, fields = declared.key): string {
  const same = fields.slice(0, -1).map((field, i) => `${quoted(field.name)} = ${keyValueSql(field, i)}`);
  const lastField = fields.at(-1) as FieldInfo;
  const last = quoted(lastField.name);
  const upTo = [...same, `${last} <= ${keyValueSql(lastField, same.length)}`].join(" AND ");
  if (fields === declared.key) {
    const found = `row.${last} = (SELECT max(${last}) FROM ${quoted(declared.name)} WHERE ${upTo})`;
    return selectEachSql(declared, [...same.map((condition) => `row.${condition}`), found]);
  }
  const order = [last, ...declared.key.filter((field) => !fields.includes(field)).map((f) => quoted(f.name))];
  const newest = `ORDER BY ${order.map((name) => `${name} DESC`).join(", ")} LIMIT 1`;
  const found = `(SELECT ${list(declared.key)} FROM ${quoted(declared.name)} WHERE ${upTo} ${newest})`;
  const key = declared.key.map((field) => `row.${quoted(field.name)}`).join(", ");
  return selectEachSql(declared, [`(${key}) = ${found}`]);
}

/** A value of the key that json_each is at. */
function keyValueSql(field: FieldInfo, place: number): string {
  return valueSql(field, `k.value ->> ${place}`);
}

/** CROSS JOIN: the keys decide the order, each is one look-up. */
function selectEachSql(declared: CompiledCollection, conditions: readonly string[]): string {
  return `SELECT ${readListSql(declared.fields, "row.")} FROM json_each(?) AS k CROSS JOIN ${quoted(declared.name)} AS row WHERE ${conditions.join(" AND ")}`;
}

/** Parameters are the key's values in order. */
export function deleteByKeySql(declared: CompiledCollection): string {
  return `DELETE FROM ${quoted(declared.name)} WHERE ${keySql(declared)}`;
}

function keySql(declared: CompiledCollection): string {
  return declared.key.map((field) => `${quoted(field.name)} = ${valueSql(field)}`).join(" AND ");
}

export function countSql(declared: CompiledCollection, selection: ParsedSelection): Sql {
  const from = fromSql(declared, selection);
  return { text: `SELECT count(*) FROM ${from.text}`, params: from.params };
}

/** One row of totals; null for a field that no row has. */
export function sumSql(
  declared: CompiledCollection,
  { where, fields }: { where: readonly Predicate[]; fields: readonly FieldInfo[] },
): Sql {
  const condition = whereSql(where);
  const totals = fields.map((field) => `sum(${quoted(field.name)})`).join(", ");
  return {
    text: `SELECT ${totals} FROM ${quoted(declared.name)}${condition.text}`,
    params: condition.params,
  };
}

export function selectSql(
  declared: CompiledCollection,
  query: ParsedQuery,
  columns = readListSql(query.fields),
): Sql {
  const from = fromSql(declared, query);
  const params = [...from.params];
  // A projection without fields still yields one (empty) row for each match.
  let text = `SELECT ${columns || "NULL"} FROM ${from.text}`;
  if (query.order.length > 0) text += ` ORDER BY ${query.order.map(orderSql).join(", ")}`;
  if (query.limit !== Number.POSITIVE_INFINITY || query.skip > 0) {
    text += " LIMIT ? OFFSET ?";
    params.push(query.limit === Number.POSITIVE_INFINITY ? -1 : query.limit, query.skip);
  }
  return { text, params };
}

/** What SQLITE_DIALECT writes for NUL and \x01; no other text begins with \x01. */
export const ESCAPES = ["\x01\x01", "\x01\x02"] as const;
export const TEXT_SEPARATOR = "\x01\x03";

/** One row: the texts of the rows' only field, joined; null for no rows. */
export function selectJoinedSql(declared: CompiledCollection, query: ParsedQuery): Sql {
  const rows = selectSql(declared, query, list(query.fields));
  const [field] = query.fields as [FieldInfo];
  return {
    text: `SELECT group_concat(${readSql(field)}, char(1, 3)) FROM (${rows.text})`,
    params: rows.params,
  };
}

/** SQLite sorts null first: right when descending; ascending takes a second pass over the index. */
function orderSql({ field, direction, nullable }: OrderTerm): string {
  if (direction === "desc") return `${quoted(field.name)} DESC`;
  return nullable ? `${quoted(field.name)} ASC NULLS LAST` : quoted(field.name);
}

const COMPARISON = { eq: "=", gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

function whereSql(where: readonly Predicate[], anyOf: ParsedSelection["anyOf"] = []): Sql {
  const params: Stored[] = [];
  const all = (predicates: readonly Predicate[]): string =>
    predicates.map((predicate) => conditionSql(predicate, params)).join(" AND ");
  const conditions = where.length === 0 ? [] : [all(where)];
  if (anyOf.length > 0) {
    const alternatives = anyOf.map((predicates) => (predicates.length === 0 ? "1" : `(${all(predicates)})`));
    conditions.push(`(${alternatives.join(" OR ")})`);
  }
  return { text: conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`, params };
}

/** Adds the condition's values to `params`. */
function conditionSql(predicate: Predicate, params: Stored[]): string {
  const column = quoted(predicate.field.name);
  switch (predicate.op) {
    case "null":
      return `${column} IS NULL`;
    case "notNull":
      return `${column} IS NOT NULL`;
    case "in": {
      const values = padded(predicate.values);
      params.push(...values);
      const inList = `${column} IN (${values.map(() => valueSql(predicate.field)).join(", ")})`;
      return predicate.orNull ? `(${inList} OR ${column} IS NULL)` : inList;
    }
    default:
      params.push(predicate.value);
      return `${column} ${COMPARISON[predicate.op]} ${valueSql(predicate.field)}`;
  }
}

/** Lists of any length become few different statements: the last value is repeated up to a power of two. */
function padded(values: readonly Stored[]): readonly Stored[] {
  const last = values.at(-1);
  if (last === undefined) return values;
  const length = 2 ** Math.ceil(Math.log2(values.length));
  return [...values, ...Array<Stored>(length - values.length).fill(last)];
}

/**
 * Reads EXPLAIN QUERY PLAN. "index": every table is entered by SEARCH (key or index), or it is an unfiltered ordered
 * read that stops at its limit without sorting. "scan": anything that reads a whole table.
 */
export function planOf(details: readonly string[], query: ParsedQuery): "index" | "scan" {
  const scans = details.some((detail) => detail.startsWith("SCAN "));
  const sorts = details.some((detail) => detail.includes("TEMP B-TREE"));
  if (!scans) return "index";
  return query.where.length === 0 && query.limit !== Number.POSITIVE_INFINITY && !sorts ? "index" : "scan";
}

/** With fewer rows joining does not pay. */
const LEAST_TEXTS = 32;

/** Whether a long list of one text field is asked for: see selectJoinedSql. */
export function isTextList({ fields, limit }: ParsedQuery): boolean {
  const [field] = fields;
  return (
    fields.length === 1 &&
    (field?.type === "text" || field?.type === "hex") &&
    !field.nullable &&
    limit >= LEAST_TEXTS
  );
}
