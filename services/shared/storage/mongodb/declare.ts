import type { Db } from "mongodb";
import type { Collection } from "../collection.ts";
import {
  type CompiledCollection,
  changedDeclarationError,
  type Extension,
  extensionOf,
  fingerprintWith,
  isComplete,
  undeclaredError,
} from "../declaration.ts";
import type { MongoConnection } from "./connection.ts";
import { isDuplicate } from "./documents.ts";
import { indexName } from "./query.ts";

export const DECLARATIONS = "_collections";

/** The stored declarations by collection. */
export async function readDeclarations(db: Db): Promise<ReadonlyMap<string, string>> {
  const rows = await db.collection<StoredDeclaration>(DECLARATIONS).find().toArray();
  return new Map(rows.map(({ _id, declaration }) => [_id, declaration]));
}

export interface StoredDeclaration {
  readonly _id: string;
  readonly declaration: string;
}

/**
 * Creates what is missing of a collection and its indexes; with `readOnly` that is an error. Throws where its stored
 * declaration differs. Leaves former indexes, and returns whether there are any: see FormerIndexes.
 */
export async function declareIn(
  connection: MongoConnection,
  declared: CompiledCollection,
  { readOnly, sharded }: { readonly readOnly: boolean; readonly sharded: boolean },
): Promise<boolean> {
  // Before its first row, so that its shards are there.
  if (sharded && !readOnly) await shard(connection, declared);
  return connection.retryable((db) => createMissing(db, declared, readOnly));
}

async function createMissing(db: Db, declared: CompiledCollection, readOnly: boolean): Promise<boolean> {
  const declarations = db.collection<StoredDeclaration>(DECLARATIONS);
  /** What the database lacks of it: everything, a part, or nothing. */
  const readMissing = async (): Promise<{ stored?: string; extension: Extension }> => {
    const stored = (await declarations.findOne({ _id: declared.name }))?.declaration;
    if (stored === undefined) return { extension: { ...declared, former: [] } };
    const extension = extensionOf(stored, declared);
    if (extension === undefined) {
      const place = `MongoDB database ${db.databaseName}`;
      throw changedDeclarationError(declared, { stored, place });
    }
    return { stored, extension };
  };
  const missing = await readMissing();
  const { former } = missing.extension;
  if (missing.stored !== undefined && isComplete(missing.extension)) return former.length > 0;
  if (readOnly) throw undeclaredError(declared, `MongoDB database ${db.databaseName}`);
  const indexes = missing.extension.indexes.map((index) => {
    const { fields, unique, descending, carries } = index;
    // They end with _id: ties are returned in key order without sorting.
    const key = Object.fromEntries(
      [...fields, ...(unique ? [] : ["_id"]), ...carries].map((field) => [
        field,
        descending.has(field) ? -1 : 1,
      ]),
    );
    return { key, name: indexName(index), ...(unique ? { unique } : {}) };
  });
  if (indexes.length > 0) await db.collection(declared.name).createIndexes(indexes);
  // Recorded last: if the process dies before this line, the next one repeats the work.
  if (missing.stored !== undefined) {
    const filter = { _id: declared.name, declaration: missing.stored };
    await declarations.updateOne(filter, { $set: { declaration: fingerprintWith(declared, former) } });
    await readMissing();
    return former.length > 0;
  }
  try {
    await declarations.insertOne({ _id: declared.name, declaration: declared.fingerprint });
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    await readMissing();
  }
  return false;
}

/** See Store.forget. Idempotent; a kill in between leaves collections without a declaration, which the next one makes again. */
export function forgetIn(connection: MongoConnection, collections: readonly Collection[]): Promise<boolean> {
  const names = collections.map(({ name }) => name);
  return connection.retryable(async (db) => {
    for (const name of names)
      if ((await db.collection(name).findOne({}, { projection: { _id: 1 } })) !== null) return false;
    await db.collection<StoredDeclaration>(DECLARATIONS).deleteMany({ _id: { $in: names } });
    for (const name of names) await db.collection(name).drop();
    return true;
  });
}

/**
 * Shards a collection that is not sharded yet, and adds fields that its key ends in since then; for a cluster (mongos).
 */
async function shard(connection: MongoConnection, declared: CompiledCollection): Promise<void> {
  const key = Object.fromEntries(declared.shardKey.map((field) => [field, 1]));
  const name = `${connection.database}.${declared.name}`;
  try {
    await connection.admin({ shardCollection: name, key });
  } catch (error) {
    if ((error as { codeName?: string }).codeName !== "AlreadyInitialized") throw error;
    await refine(connection, { name, key });
  }
}

/** A shard key can be continued. One that is no beginning of ours was chosen by hand, and stays. */
async function refine(
  connection: MongoConnection,
  { name, key }: { name: string; key: Readonly<Record<string, number>> },
): Promise<void> {
  const before = Object.entries(((await connection.config("collections", name))?.key ?? {}) as object);
  const now = Object.entries(key);
  const isBeginning = before.every(([name, how], i) => now[i]?.[0] === name && now[i]?.[1] === how);
  if (!isBeginning || before.length === 0 || before.length === now.length) return;
  await connection.retryable((db) => db.collection(name.slice(name.indexOf(".") + 1)).createIndex(key));
  await connection.admin({ refineCollectionShardKey: name, key });
}
