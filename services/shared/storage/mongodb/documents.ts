import type { Document } from "mongodb";
import type { CompiledCollection } from "../declaration.ts";
import type { Encoders } from "../query.ts";
import { decoderOf, encoderOf, type Stored } from "../values.ts";
import { idOf } from "./key.ts";
import type { StoredRow } from "./nulls-last.ts";
import type { DuplicateShare, StoredDocument } from "./write.ts";

/** A declared collection, ready for use. */
export interface Entry {
  readonly declared: CompiledCollection;
  readonly encoders: Encoders;
  readonly duplicates: DuplicateShare;
}

type Row = Readonly<Record<string, unknown>>;

export function entryOf(declared: CompiledCollection): Entry {
  const encoders = new Map(declared.fields.map((field) => [field.name, encoderOf(declared.name, field)]));
  return { declared, encoders, duplicates: { last: 0 } };
}

export function documentOf({ declared, encoders }: Entry, row: Row): StoredDocument {
  const id = keyId({ declared, encoders }, row);
  const document: StoredDocument = { _id: id };
  for (const [name, encode] of encoders) {
    const value = encode(row[name]);
    if (value !== null) document[name] = value;
  }
  return document;
}

export function keyId({ declared, encoders }: Pick<Entry, "declared" | "encoders">, row: Row): string {
  return idOf(
    declared,
    declared.key.map((field) => (encoders.get(field.name) as (value: unknown) => Stored)(row[field.name])),
  );
}

/**
 * The filter of the rows with these keys. On a sharded cluster with the fields of the shard key that the keys have, so
 * that only the shards of these rows are asked: `_id` alone is asked of all.
 */
export function keysFilter(
  entry: Pick<Entry, "declared" | "encoders">,
  keys: readonly Row[],
  { sharded }: { sharded: boolean },
): Document {
  const oneOf = (values: ReadonlySet<Stored>): Stored | Document =>
    values.size === 1 ? ([...values][0] as Stored) : { $in: [...values] };
  const filter: Document = { _id: oneOf(new Set(keys.map((key) => keyId(entry, key)))) };
  if (!sharded) return filter;
  const inKey = new Set(entry.declared.key.map((field) => field.name));
  for (const name of entry.declared.shardKey) {
    // A later field without this one says nothing about the shard.
    if (!inKey.has(name)) break;
    const encode = entry.encoders.get(name) as (value: unknown) => Stored;
    filter[name] = oneOf(new Set(keys.map((key) => encode(key[name]))));
  }
  return filter;
}

/** The filter of one whole document, by its shard key too on a sharded cluster: a replacement must name one shard. */
export function documentFilter(
  { declared }: Pick<Entry, "declared">,
  document: StoredDocument,
  { sharded }: { sharded: boolean },
): Document {
  if (!sharded) return { _id: document._id };
  return {
    _id: document._id,
    ...Object.fromEntries(declared.shardKey.map((field) => [field, document[field] ?? null])),
  };
}

export function rowsOf(
  stored: readonly StoredRow[],
  fields: CompiledCollection["fields"],
): Record<string, unknown>[] {
  const columns = fields.map((field) => ({ name: field.name, decode: decoderOf(field) }));
  return stored.map((document) => {
    const row: Record<string, unknown> = {};
    for (const { name, decode } of columns) {
      const value = document[name] ?? null;
      row[name] = decode === undefined ? value : decode(value);
    }
    return row;
  });
}

export function isDuplicate(error: unknown): boolean {
  return (error as { code?: unknown }).code === 11000;
}
