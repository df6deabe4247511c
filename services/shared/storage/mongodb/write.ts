import type { Collection, Document } from "mongodb";
import type { Stored } from "../values.ts";
import type { MongoConnection } from "./connection.ts";

/** Fields under their names, nulls left out, and the key as `_id`. */
export type StoredDocument = { _id: string } & Record<string, Stored>;

/** The share of the last chunk that replaced documents: a prediction for the next. */
export interface DuplicateShare {
  last: number;
}

export interface PutOptions {
  readonly collection: string;
  /** The filter of the document to replace. */
  readonly filterOf: (document: StoredDocument) => Document;
  readonly duplicates: DuplicateShare;
}

const MOST_IN_CHUNK = 1_500;
const LEAST_IN_CHUNK = 250;
const IN_FLIGHT = 4;
const DUPLICATE_KEY = 11_000;

/**
 * Inserts or replaces documents with different `_id`s. New rows use insertMany, three times as fast as upserts;
 * existing ones are then replaced. While most exist, all are replaced at once.
 */
export async function putDocuments(
  connection: MongoConnection,
  documents: readonly StoredDocument[],
  options: PutOptions,
): Promise<void> {
  // Lanes of equal size: the write ends with the slowest lane.
  const share = Math.ceil(documents.length / IN_FLIGHT);
  const size = Math.min(Math.max(share, LEAST_IN_CHUNK), MOST_IN_CHUNK);
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < documents.length) {
      const chunk = documents.slice(next, next + size);
      next += size;
      await connection.retryable((db) =>
        putChunk(db.collection<StoredDocument>(options.collection), chunk, options),
      );
    }
  };
  const lanes = Math.min(IN_FLIGHT, Math.ceil(documents.length / size));
  await settleAll(Array.from({ length: lanes }, work));
}

/** Waits for all parts before it throws: nothing may be written after a write has failed. */
export async function settleAll(parts: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(parts);
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

async function putChunk(
  collection: Collection<StoredDocument>,
  chunk: readonly StoredDocument[],
  options: PutOptions,
): Promise<void> {
  const { duplicates } = options;
  if (duplicates.last > 0.5) {
    const inserted = await replaceAll(collection, chunk, options);
    duplicates.last = 1 - inserted / chunk.length;
    return;
  }
  const existing = await insertNew(collection, chunk);
  duplicates.last = existing.length / chunk.length;
  if (existing.length > 0) await replaceAll(collection, existing, options);
}

/** Returns the documents whose `_id` exists. */
async function insertNew(
  collection: Collection<StoredDocument>,
  chunk: readonly StoredDocument[],
): Promise<StoredDocument[]> {
  try {
    await collection.insertMany(chunk as StoredDocument[], { ordered: false });
    return [];
  } catch (error) {
    const writeErrors = [(error as { writeErrors?: unknown }).writeErrors ?? []].flat() as {
      index: number;
      code: number;
    }[];
    const onlyDuplicates = writeErrors.length > 0 && writeErrors.every(({ code }) => code === DUPLICATE_KEY);
    if (!onlyDuplicates) throw error;
    return writeErrors.map(({ index }) => chunk[index] as StoredDocument);
  }
}

/** Returns how many were new after all. */
async function replaceAll(
  collection: Collection<StoredDocument>,
  chunk: readonly StoredDocument[],
  { filterOf }: PutOptions,
): Promise<number> {
  const operations = chunk.map((document) => ({
    replaceOne: { filter: filterOf(document), replacement: document, upsert: true },
  }));
  for (let attempt = 1; ; attempt++) {
    try {
      return (await collection.bulkWrite(operations, { ordered: false })).upsertedCount;
    } catch (error) {
      // Two upserts of one new `_id` at once: the server fails one, whose retry finds the document.
      if ((error as { code?: unknown }).code !== DUPLICATE_KEY || attempt === 3) throw error;
    }
  }
}
