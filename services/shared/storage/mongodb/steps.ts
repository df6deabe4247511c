import type { Document, Collection as MongoCollection } from "mongodb";
import type { DeclaredCollections } from "../declaration.ts";
import { ConflictError, FailoverError, isEmpty, parallelGroups, type WriteStep } from "../port.ts";
import { parseFilter } from "../query.ts";
import type { MongoConnection } from "./connection.ts";
import { documentFilter, documentOf, type Entry, isDuplicate, keyId, keysFilter } from "./documents.ts";
import { toMongoQuery } from "./query.ts";
import { putDocuments, type StoredDocument, settleAll } from "./write.ts";

/** How many keys one query names. */
export const KEYS_A_QUERY = 1_000;

/** The token of the last fenced put or claim of a document: see Store.putFenced. No field of a row has this name. */
export const FENCE = "_fence";

type PutStep = WriteStep & { readonly kind: "put" };

export interface WriteContext {
  readonly connection: MongoConnection;
  readonly collections: DeclaredCollections<Entry>;
  readonly sharded: boolean;
  /** Called when all steps of a write with a fenced put are stored. */
  readonly onFencedWrite: (id: string) => Promise<void>;
}

/** Store.write on MongoDB. */
export async function writeSteps(context: WriteContext, steps: readonly WriteStep[]): Promise<void> {
  const { connection } = context;
  const { term } = connection;
  const work = steps.filter((step) => !isEmpty(step));
  // Only such writes go on from what is in memory: others are done once they are done.
  const isGuarded = work.some((step) => step.kind === "require" || step.kind === "claim" || isFenced(step));
  for (const group of parallelGroups(work)) {
    await settleAll(group.map((step) => apply(context, step)));
    if (isGuarded && connection.term !== term) throw new FailoverError();
  }
  const last = work.findLast(isFenced);
  if (last === undefined) return;
  const entry = context.collections.get(last.collection);
  await context.onFencedWrite(snapshotId(entry, firstRow(last)));
}

/** What names the row whose fenced puts end writes. */
export function snapshotId(entry: Entry, key: Readonly<Record<string, unknown>>): string {
  return `${entry.declared.name} ${keyId(entry, key)}`;
}

function isFenced(step: WriteStep): step is PutStep {
  return step.kind === "put" && step.fence !== undefined;
}

/** The row of a fenced put. */
function firstRow({ rows: [row = {}] }: PutStep): Record<string, unknown> {
  return row;
}

async function apply(context: WriteContext, step: WriteStep): Promise<void> {
  const { collections, connection, sharded } = context;
  const entry = collections.get(step.collection);
  const { declared, encoders } = entry;
  const on = <T>(work: (documents: MongoCollection<StoredDocument>) => Promise<T>): Promise<T> =>
    connection.retryable((db) => work(db.collection<StoredDocument>(declared.name)));
  switch (step.kind) {
    case "put":
      return step.fence === undefined
        ? putRows(context, { entry, rows: [...step.rows] })
        : putFenced(context, { entry, row: firstRow(step), token: step.fence.token });
    case "claim": {
      const { token } = step.fence;
      const byKey = keysFilter(entry, [step.key], { sharded });
      const claimed = await on((documents) =>
        documents.updateOne({ ...byKey, ...notAbove(token) }, { $set: { [FENCE]: token } } as Document),
      );
      if (claimed.matchedCount > 0) return;
      if ((await on((documents) => documents.findOne(byKey, { projection: { _id: 1 } }))) !== null)
        throw new ConflictError(declared.name);
      return;
    }
    case "remove":
      for (let i = 0; i < step.keys.length; i += KEYS_A_QUERY) {
        const filter = keysFilter(entry, step.keys.slice(i, i + KEYS_A_QUERY), { sharded });
        await on((documents) => documents.deleteMany(filter));
      }
      return;
    case "removeWhere": {
      const where = parseFilter(declared, encoders, step.filter);
      const { filter } = toMongoQuery(declared, { where, order: [], sharded });
      await on((documents) => documents.deleteMany(filter));
      return;
    }
    case "require": {
      const where = parseFilter(declared, encoders, step.expected);
      const { filter } = toMongoQuery(declared, { where, order: [], sharded });
      const match = { $and: [keysFilter(entry, [step.key], { sharded }), filter] };
      const found = await on((documents) => documents.findOne(match, { projection: { _id: 1 } }));
      if (found === null) throw new ConflictError(declared.name);
    }
  }
}

async function putRows(
  { connection, sharded }: WriteContext,
  { entry, rows }: { entry: Entry; rows: readonly Readonly<Record<string, unknown>>[] },
): Promise<void> {
  // By `_id`: documents are written in no fixed order, so of two rows with one key only the last is written.
  const byId = new Map<string, StoredDocument>();
  for (const row of rows) {
    const document = documentOf(entry, row);
    byId.set(document._id, document);
  }
  const filterOf = (document: StoredDocument): Document => documentFilter(entry, document, { sharded });
  const options = { collection: entry.declared.name, filterOf, duplicates: entry.duplicates };
  await putDocuments(connection, [...byId.values()], options);
}

/** Where a larger token has the document, the filter finds none, and the insert in its place meets its `_id`. */
async function putFenced(
  { connection, sharded }: WriteContext,
  { entry, row, token }: { entry: Entry; row: Readonly<Record<string, unknown>>; token: number },
): Promise<void> {
  const document = { ...documentOf(entry, row), [FENCE]: token };
  const filter = { ...documentFilter(entry, document, { sharded }), ...notAbove(token) };
  const { name } = entry.declared;
  for (let attempt = 1; ; attempt++) {
    try {
      await connection.retryable((db) =>
        db.collection<StoredDocument>(name).replaceOne(filter, document, { upsert: true }),
      );
      return;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      // Two inserts of one new `_id` at once look the same: a second attempt finds the document.
      if (attempt === 2) throw new ConflictError(name);
    }
  }
}

/** Documents without a token have never been fenced. */
function notAbove(token: number): Document {
  return { [FENCE]: { $not: { $gt: token } } };
}
