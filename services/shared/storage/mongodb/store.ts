/**
 * The store for more than one machine. A row is a document: its fields under their names (nulls left out), and the
 * key once more as `_id`, one string in key order, so that the primary index serves key ranges and key order.
 * Without transactions by design: see Store.write for the order of steps.
 *
 * Figures and how to repeat them: storage.bench.ts.
 */
import type { Db, Document, Collection as MongoCollection } from "mongodb";
import {
  type CompiledCollection,
  changedDeclarationError,
  compileCollection,
  DeclaredCollections,
} from "../declaration.ts";
import {
  type Collection,
  ConflictError,
  type Filter,
  isEmpty,
  parallelGroups,
  type Query,
  type QueryPlan,
  type RowOf,
  type Selection,
  type Store,
  type SummableField,
  type WriteStep,
} from "../port.ts";
import {
  type Encoders,
  type ParsedSelection,
  parseFilter,
  parseQuery,
  parseSelection,
  summable,
  totalsOf,
  type UntypedQuery,
} from "../query.ts";
import { decoderOf, encoderOf, type Stored } from "../values.ts";
import { MongoConnection, type MongoOptions } from "./connection.ts";
import { idOf } from "./key.ts";
import { type NullsFirstSource, readNullsLast, type StoredRow } from "./nulls-last.ts";
import { findsOf, hintOf, indexName, planOfExplain, toMongoQuery } from "./query.ts";
import { type DuplicateShare, putDocuments, type StoredDocument, settleAll } from "./write.ts";

/** Connects and waits for the server. @throws Error without the URL's credentials. */
export async function openMongoStore(options: MongoOptions): Promise<Store> {
  const connection = await MongoConnection.create(options);
  try {
    const hello = await connection.admin({ hello: 1 });
    return new MongoStore(connection, { sharded: hello.msg === "isdbgrid" });
  } catch (cause) {
    await connection.close();
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot reach MongoDB for the database ${options.database}: ${why}`, { cause });
  }
}

interface Entry {
  readonly declared: CompiledCollection;
  readonly encoders: Encoders;
  readonly duplicates: DuplicateShare;
}

const DECLARATIONS = "_collections";
const KEYS_A_QUERY = 1_000;

class MongoStore implements Store {
  readonly engine = "mongodb";
  readonly #connection: MongoConnection;
  readonly #sharded: boolean;
  readonly #collections = new DeclaredCollections<Entry>();

  constructor(connection: MongoConnection, { sharded }: { sharded: boolean }) {
    this.#connection = connection;
    this.#sharded = sharded;
  }

  async declare(collections: readonly Collection[]): Promise<void> {
    for (const collection of collections) {
      const declared = compileCollection(collection);
      if (this.#sharded) await this.#shard(declared);
      await this.#connection.retryable((db) => declareIn(db, declared));
      const encoders = new Map(declared.fields.map((field) => [field.name, encoderOf(declared.name, field)]));
      this.#collections.add(collection, { declared, encoders, duplicates: { last: 0 } });
    }
  }

  async #shard(declared: CompiledCollection): Promise<void> {
    const key = Object.fromEntries(declared.shardKey.map((field) => [field, 1]));
    try {
      await this.#connection.admin({ shardCollection: `${this.#connection.database}.${declared.name}`, key });
    } catch (error) {
      if ((error as { codeName?: string }).codeName !== "AlreadyInitialized") throw error;
    }
  }

  /** Idempotent reads and writes of one collection. */
  #documents<T>(
    { declared }: Entry,
    work: (documents: MongoCollection<StoredDocument>) => Promise<T>,
  ): Promise<T> {
    return this.#connection.retryable((db) => work(db.collection<StoredDocument>(declared.name)));
  }

  async write(steps: readonly WriteStep[]): Promise<void> {
    for (const group of parallelGroups(steps.filter((step) => !isEmpty(step))))
      await settleAll(group.map((step) => this.#apply(step)));
  }

  async #apply(step: WriteStep): Promise<void> {
    const entry = this.#collections.get(step.collection);
    const { declared, encoders } = entry;
    switch (step.kind) {
      case "put":
        return this.#put(entry, step.rows);
      case "remove": {
        const ids = [...new Set(step.keys.map((key) => keyId(entry, key)))];
        for (let i = 0; i < ids.length; i += KEYS_A_QUERY) {
          const filter = { _id: { $in: ids.slice(i, i + KEYS_A_QUERY) } };
          await this.#documents(entry, (documents) => documents.deleteMany(filter));
        }
        return;
      }
      case "removeWhere": {
        const { filter } = toMongoQuery(declared, {
          where: parseFilter(declared, encoders, step.filter),
          order: [],
        });
        await this.#documents(entry, (documents) => documents.deleteMany(filter));
        return;
      }
      case "require": {
        const { filter } = toMongoQuery(declared, {
          where: parseFilter(declared, encoders, step.expected),
          order: [],
        });
        const match = { $and: [{ _id: keyId(entry, step.key) }, filter] };
        const found = await this.#documents(entry, (documents) =>
          documents.findOne(match, { projection: { _id: 1 } }),
        );
        if (found === null) throw new ConflictError(declared.name);
      }
    }
  }

  async #put(entry: Entry, rows: readonly Readonly<Record<string, unknown>>[]): Promise<void> {
    // By `_id`: documents are written in no fixed order, so of two rows with one key only the last is written.
    const byId = new Map<string, StoredDocument>();
    for (const row of rows) {
      const document = documentOf(entry, row);
      byId.set(document._id, document);
    }
    const filterOf = (document: StoredDocument): Document => this.#targeted(entry, document);
    const options = { collection: entry.declared.name, filterOf, duplicates: entry.duplicates };
    await putDocuments(this.#connection, [...byId.values()], options);
  }

  /** The filter of one document; a sharded cluster also needs the shard key. */
  #targeted({ declared }: Entry, document: StoredDocument): Document {
    if (!this.#sharded) return { _id: document._id };
    return {
      _id: document._id,
      ...Object.fromEntries(declared.shardKey.map((field) => [field, document[field] ?? null])),
    };
  }

  async get<C extends Collection>(from: C, key: Partial<RowOf<C>>): Promise<RowOf<C> | undefined> {
    const entry = this.#collections.get(from);
    const _id = keyId(entry, key);
    const document = await this.#documents(entry, (documents) => documents.findOne({ _id }));
    return rowsOf(document === null ? [] : [document], entry.declared.fields)[0] as RowOf<C> | undefined;
  }

  async getMany<C extends Collection>(from: C, keys: readonly Partial<RowOf<C>>[]): Promise<RowOf<C>[]> {
    const entry = this.#collections.get(from);
    const ids = [...new Set(keys.map((key) => keyId(entry, key)))];
    const chunks = Array.from({ length: Math.ceil(ids.length / KEYS_A_QUERY) }, (_, i) =>
      ids.slice(i * KEYS_A_QUERY, (i + 1) * KEYS_A_QUERY),
    );
    const read = (chunk: readonly string[]): Promise<StoredDocument[]> =>
      this.#documents(entry, (documents) =>
        documents.find({ _id: { $in: chunk } }, { batchSize: KEYS_A_QUERY + 1 }).toArray(),
      );
    const documents = (await Promise.all(chunks.map(read))).flat();
    return rowsOf(documents, entry.declared.fields) as RowOf<C>[];
  }

  async getLast<C extends Collection>(from: C, keys: readonly Partial<RowOf<C>>[]): Promise<RowOf<C>[]> {
    const entry = this.#collections.get(from);
    const distinct = new Map(keys.map((key) => [keyId(entry, key), key]));
    const names = entry.declared.key.map((field) => field.name);
    const last = names.at(-1) as keyof RowOf<C> & string;
    // The driver's pool bounds the concurrency.
    const found = await Promise.all(
      [...distinct.values()].map((key) => {
        const same = names.slice(0, -1).map((name) => [name, key[name as keyof RowOf<C>]]);
        const filter = { ...Object.fromEntries(same), [last]: { lte: key[last] } } as Filter<RowOf<C>>;
        return this.find(from, { filter, order: [{ field: last, direction: "desc" }], limit: 1 });
      }),
    );
    return [...new Map(found.flat().map((row) => [keyId(entry, row), row])).values()];
  }

  async find<C extends Collection, K extends keyof RowOf<C> = keyof RowOf<C>>(
    from: C,
    query: Query<RowOf<C>, K>,
  ): Promise<Pick<RowOf<C>, K>[]> {
    const entry = this.#collections.get(from);
    const { declared, encoders } = entry;
    const parsed = parseQuery(declared, encoders, query as UntypedQuery);
    if (parsed.limit === 0) return [];
    // The fields of the order are needed to put nulls last.
    const names = [...parsed.fields, ...parsed.order.map((term) => term.field)].map((field) => field.name);
    const projection = {
      _id: 0,
      ...(query.fields === undefined ? {} : Object.fromEntries(names.map((name) => [name, 1]))),
    };
    const source: NullsFirstSource = {
      read: async ({ where, order, skip, limit }) => {
        const query = toMongoQuery(declared, { ...parsed, where, order });
        const batchSize = Math.min(limit + 1, 10_000);
        const page = limit === Number.POSITIVE_INFINITY ? { batchSize } : { limit, batchSize };
        const options = { projection, sort: query.sort, skip, ...page, ...hintOf(parsed.via) };
        const read = (filter: Document) =>
          this.#documents(entry, (documents) => documents.find<StoredRow>(filter, options).toArray());
        return (await Promise.all(findsOf(query, { skip, limit }).map(read))).flat();
      },
      count: (where) => this.#count(entry, { ...parsed, where }),
    };
    const rows = await readNullsLast(source, parsed);
    return rowsOf(rows, parsed.fields) as Pick<RowOf<C>, K>[];
  }

  async count<C extends Collection>(
    from: C,
    filter: Filter<RowOf<C>>,
    selection: Selection<RowOf<C>> = {},
  ): Promise<number> {
    const entry = this.#collections.get(from);
    return this.#count(entry, parseSelection(entry.declared, entry.encoders, { filter, ...selection }));
  }

  #count(entry: Entry, selection: ParsedSelection): Promise<number> {
    const { filter } = toMongoQuery(entry.declared, { ...selection, order: [] });
    return this.#documents(entry, (documents) => documents.countDocuments(filter, hintOf(selection.via)));
  }

  async sum<C extends Collection, K extends SummableField<C>>(
    from: C,
    filter: Filter<RowOf<C>>,
    names: readonly K[],
  ): Promise<Record<K, number>> {
    const entry = this.#collections.get(from);
    const fields = summable(entry.declared, names);
    const where = parseFilter(entry.declared, entry.encoders, filter);
    if (fields.length === 0) return {} as Record<K, number>;
    const match = toMongoQuery(entry.declared, { where, order: [] }).filter;
    const totals = Object.fromEntries(fields.map(({ name }) => [name, { $sum: `$${name}` }]));
    const pipeline = [{ $match: match }, { $group: { _id: null, ...totals } }];
    const [group] = await this.#documents(entry, (documents) => documents.aggregate(pipeline).toArray());
    return totalsOf(
      entry.declared,
      fields,
      fields.map(({ name }) => group?.[name] as unknown),
    );
  }

  async compareAndSet<C extends Collection>(
    target: C,
    row: RowOf<C>,
    expected: Filter<RowOf<C>> | null,
  ): Promise<boolean> {
    const entry = this.#collections.get(target);
    const { declared, encoders } = entry;
    const document = documentOf(entry, row);
    // Never retried: after a lost response it is unknown whether this call wrote.
    if (expected !== null) {
      const { filter } = toMongoQuery(declared, {
        where: parseFilter(declared, encoders, expected),
        order: [],
      });
      const match = { $and: [this.#targeted(entry, document), filter] };
      const replaced = await this.#connection.once((db) =>
        db.collection<StoredDocument>(declared.name).replaceOne(match, document),
      );
      return replaced.matchedCount === 1;
    }
    try {
      await this.#connection.once((db) => db.collection<StoredDocument>(declared.name).insertOne(document));
      return true;
    } catch (error) {
      // A clash with another row in a unique index is an error of the caller, not a lost race.
      const { _id } = document;
      if (
        isDuplicate(error) &&
        (await this.#documents(entry, (documents) => documents.countDocuments({ _id }))) === 1
      )
        return false;
      throw error;
    }
  }

  async plan<C extends Collection>(from: C, query: Query<RowOf<C>>): Promise<QueryPlan> {
    const entry = this.#collections.get(from);
    const { declared, encoders } = entry;
    const parsed = parseQuery(declared, encoders, query as UntypedQuery);
    const { filter, sort } = toMongoQuery(declared, parsed);
    const limited = parsed.limit !== Number.POSITIVE_INFINITY;
    try {
      const options = {
        sort,
        skip: parsed.skip,
        ...hintOf(parsed.via),
        ...(limited ? { limit: parsed.limit } : {}),
      };
      const explained = await this.#documents(entry, (documents) =>
        documents.find(filter, options).explain("queryPlanner"),
      );
      return planOfExplain(explained, { filtered: parsed.where.length > 0, limited });
    } catch {
      return "unknown";
    }
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}

async function declareIn(db: Db, declared: CompiledCollection): Promise<void> {
  const declarations = db.collection<{ _id: string; declaration: string }>(DECLARATIONS);
  const isRecorded = async (): Promise<boolean> => {
    const stored = await declarations.findOne({ _id: declared.name });
    if (stored !== null && stored.declaration !== declared.fingerprint) {
      const place = `MongoDB database ${db.databaseName}`;
      throw changedDeclarationError(declared, { stored: stored.declaration, place });
    }
    return stored !== null;
  };
  if (await isRecorded()) return;
  const indexes = declared.indexes.map((index) => {
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
  try {
    await declarations.insertOne({ _id: declared.name, declaration: declared.fingerprint });
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    await isRecorded();
  }
}

function documentOf({ declared, encoders }: Entry, row: Readonly<Record<string, unknown>>): StoredDocument {
  const id = keyId({ declared, encoders }, row);
  const document: StoredDocument = { _id: id };
  for (const [name, encode] of encoders) {
    const value = encode(row[name]);
    if (value !== null) document[name] = value;
  }
  return document;
}

function keyId(
  { declared, encoders }: Pick<Entry, "declared" | "encoders">,
  row: Readonly<Record<string, unknown>>,
): string {
  return idOf(
    declared,
    declared.key.map((field) => (encoders.get(field.name) as (value: unknown) => Stored)(row[field.name])),
  );
}

function rowsOf(
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

function isDuplicate(error: unknown): boolean {
  return (error as { code?: unknown }).code === 11000;
}
