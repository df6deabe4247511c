/** Conversion between rows and SQLite's cells. */
import { type CompiledCollection, type FieldInfo, fieldsBesideKey } from "../declaration.ts";
import type { Encoders, Predicate } from "../query.ts";
import { decoderOf, encoderOf, type Stored } from "../values.ts";
import { bytesOf, type Cell } from "./cell.ts";
import type { Key, KeyField } from "./keys/packed-keys.ts";
import { SQLITE_DIALECT, upsertSql } from "./sql.ts";

/** A compiled collection with its encoders and statements. */
export interface Entry {
  readonly declared: CompiledCollection;
  readonly encoders: Encoders;
  readonly encode: readonly ((value: unknown) => Stored)[];
  readonly key: readonly KeyField[];
  /** By field. */
  readonly isHex: readonly boolean[];
  readonly upsert: string;
  /** The same for ROWS_A_CALL rows. */
  readonly upsertMany: string;
}

/** Rows that one call of the driver writes: measured, a quarter cheaper a row than one by one; more gain nothing. */
export const ROWS_A_CALL = 32;

export function entryOf(declared: CompiledCollection): Entry {
  const encode = declared.fields.map((field) => encoderOf(declared.name, field, SQLITE_DIALECT));
  const encoders = new Map(
    declared.fields.map((field, i) => [field.name, encode[i] as (value: unknown) => Stored]),
  );
  return {
    declared,
    encoders,
    encode,
    key: declared.key.map((field) => ({
      field,
      encode: encoders.get(field.name) as (value: unknown) => Stored,
    })),
    isHex: declared.fields.map(({ type }) => type === "hex"),
    upsert: upsertSql(declared),
    upsertMany: upsertSql(declared, ROWS_A_CALL),
  };
}

/** Fills `into` with the row's values in column order. Texts of hex are as they are: they are checked as they are packed. */
export function encodeToPack(
  { declared, encode, isHex }: Entry,
  row: Readonly<Record<string, unknown>>,
  into: Stored[],
): Stored[] {
  const { fields } = declared;
  for (let i = 0; i < fields.length; i++) {
    const value = row[(fields[i] as { name: string }).name];
    into[i] =
      isHex[i] && typeof value === "string" ? value : (encode[i] as (value: unknown) => Stored)(value);
  }
  return into;
}

/** Fills `into` from a place on, with hex as its bytes, as it is written. */
export function encodeCells(
  entry: Entry,
  row: Readonly<Record<string, unknown>>,
  into: Cell[],
  from = 0,
): Cell[] {
  const { declared, encode, isHex } = entry;
  const { fields } = declared;
  for (let i = 0; i < fields.length; i++) {
    const value = row[(fields[i] as { name: string }).name];
    // Hex is checked as its bytes are made. What has none is null, or the encoder says what is wrong.
    const bytes = isHex[i] && typeof value === "string" ? bytesOf(value) : undefined;
    into[from + i] = bytes ?? (encode[i] as (value: unknown) => Stored)(value);
  }
  return into;
}

/** The key's cells of a stored row. */
export function keyCells(declared: CompiledCollection, cells: readonly Stored[]): Stored[] {
  return declared.key.map((field) => cells[declared.fields.indexOf(field)] as Stored);
}

type KeyPredicate = Predicate & { readonly op: "eq" };

export function keyPredicates({ key }: Entry, row: Readonly<Record<string, unknown>>): KeyPredicate[] {
  return key.map(({ field, encode }) => ({ field, op: "eq", value: encode(row[field.name]) }));
}

/**
 * Writes some fields of a row, those of a key, as JSON, as selectByKeysSql takes it. An ingest does so for every row that it
 * looks up.
 */
export function keyWriter(
  { encoders }: Entry,
  fields: readonly FieldInfo[],
): (row: Readonly<Record<string, unknown>>) => string {
  const columns = fields.map(({ name }) => ({
    name,
    encode: encoders.get(name) as (value: unknown) => Stored,
  }));
  return (row) => {
    let text = "";
    for (const { name, encode } of columns) {
      const value = encode(row[name]);
      const part =
        typeof value === "number" ? String(value) : isPlain(value) ? `"${value}"` : JSON.stringify(value);
      text += text === "" ? `[${part}` : `,${part}`;
    }
    return `${text}]`;
  };
}

/** Whether a text is the same as JSON: an address is, and a look-up writes thousands. */
function isPlain(value: Stored): boolean {
  if (typeof value !== "string") return false;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code < 35 || code > 126 || code === 92) return false;
  }
  return true;
}

export function rowsOf(
  stored: readonly (readonly Stored[])[],
  fields: CompiledCollection["fields"],
): Record<string, unknown>[] {
  const columns = columnsOf(fields);
  return stored.map((cells) => fill({}, columns, { cells, from: 0 }));
}

/** Rows of selectPackedSql. What a key holds is taken from it: reading texts costs more than finding the row. */
export function rowsOfPacked(
  stored: readonly (readonly Stored[])[],
  { declared, keys }: { declared: CompiledCollection; keys: readonly Key[] },
): Record<string, unknown>[] {
  const names = declared.key.map(({ name }) => name);
  const columns = columnsOf(fieldsBesideKey(declared));
  return stored.map((cells) => {
    const key = keys[cells[0] as number] as Key;
    const row: Record<string, unknown> = {};
    for (const name of names) row[name] = key[name];
    return fill(row, columns, { cells, from: 1 });
  });
}

interface Column {
  readonly name: string;
  readonly decode: ((stored: unknown) => unknown) | undefined;
}

function columnsOf(fields: readonly FieldInfo[]): Column[] {
  return fields.map((field) => ({ name: field.name, decode: decoderOf(field, SQLITE_DIALECT) }));
}

/** Sets the fields that cells hold, from one on. */
function fill(
  row: Record<string, unknown>,
  columns: readonly Column[],
  { cells, from }: { cells: readonly Stored[]; from: number },
): Record<string, unknown> {
  for (let i = 0; i < columns.length; i++) {
    const { name, decode } = columns[i] as Column;
    const cell = cells[from + i];
    row[name] = decode === undefined ? cell : decode(cell);
  }
  return row;
}
