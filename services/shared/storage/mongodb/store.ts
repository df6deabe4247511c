/**
 * The store for more than one machine. A row is a document: its fields under their names (nulls left out), and the
 * key once more as `_id`, one string in key order, so that the primary index serves key ranges and key order.
 * Without transactions by design: see Store.write for the order of steps, and snapshot.ts for reads of one state.
 * Figures and how to repeat them: storage.bench.ts.
 */
import { setMaxListeners } from "node:events";
import type { ClientSession, Db, Document, Collection as MongoCollection } from "mongodb";
import { ConfigError } from "../../settings/env.ts";
import { writeCopies } from "../bulk-writer.ts";
import type { Collection, FieldOf, RowOf, SummableField } from "../collection.ts";
import { compileCollection, DeclaredCollections } from "../declaration.ts";
import type {
  BulkWriter,
  Filter,
  Query,
  QueryPlan,
  Selection,
  Store,
  StoreSize,
  WriteStep,
} from "../port.ts";
import {
  type ParsedSelection,
  parseFilter,
  parseQuery,
  parseSelection,
  summable,
  totalsOf,
  type UntypedQuery,
} from "../query.ts";
import { ObjectRowList, type RowList } from "../row-list.ts";
import { collectionsOf } from "../stored-collections.ts";
import { MongoConnection, type MongoOptions } from "./connection.ts";
import { declareIn, forgetIn, readDeclarations } from "./declare.ts";
import {
  documentFilter,
  documentOf,
  type Entry,
  entryOf,
  isDuplicate,
  keyId,
  keysFilter,
  rowsOf,
} from "./documents.ts";
import { FormerIndexes } from "./former-indexes.ts";
import { type NullsFirstSource, readNullsLast, type StoredRow } from "./nulls-last.ts";
import { findsOf, planOfExplain, toMongoQuery } from "./query.ts";
import { isReadOnly } from "./rights.ts";
import { requirePrimary, type Server } from "./server.ts";
import { readSize } from "./size.ts";
import { keepsSnapshots, readSnapshot, recorderOf } from "./snapshot.ts";
import { KEYS_A_QUERY, snapshotId, type WriteContext, writeSteps } from "./steps.ts";
import type { StoredDocument } from "./write.ts";

/**
 * Connects and waits for the server. @throws Error without the URL's credentials; ConfigError for a URL that
 * checkMongoUrl refuses.
 */
export async function openMongoStore(options: MongoOptions): Promise<Store> {
  const connection = await MongoConnection.create(options);
  try {
    const hello = await connection.admin({ hello: 1 });
    requirePrimary(hello, options.url);
    return new MongoStore(connection, {
      sharded: hello.msg === "isdbgrid",
      snapshots: keepsSnapshots(hello),
      readOnly: await isReadOnly(connection, options),
      former: new FormerIndexes(connection, options),
    });
  } catch (cause) {
    await connection.close();
    if (cause instanceof ConfigError) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot reach MongoDB for the database ${options.database}: ${why}`, { cause });
  }
}

/** Where reads go: to a session's past state, or else to the newest one. */
interface Reading {
  readonly session: ClientSession;
  readonly db: Db;
}

/** What a store shares with the one that it is of: a view, or one whose reads end with a signal. */
interface Derived {
  readonly collections: DeclaredCollections<Entry>;
  readonly reading?: Reading | undefined;
  readonly signal?: AbortSignal | undefined;
}

class MongoStore implements Store {
  readonly engine = "mongodb";
  readonly #connection: MongoConnection;
  readonly #server: Server;
  readonly #collections: DeclaredCollections<Entry>;
  /** Of a view: see Store.snapshot. */
  readonly #reading: Reading | undefined;
  /** See Store.within. */
  readonly #signal: AbortSignal | undefined;
  readonly #writing: WriteContext;

  constructor(connection: MongoConnection, server: Server, derived?: Derived) {
    this.#connection = connection;
    this.#server = server;
    this.#collections = derived?.collections ?? new DeclaredCollections<Entry>();
    this.#reading = derived?.reading;
    this.#signal = derived?.signal;
    this.#writing = {
      connection,
      collections: this.#collections,
      sharded: server.sharded,
      onFencedWrite: server.snapshots ? recorderOf(connection) : async () => {},
    };
  }

  /** The server sees to its files. */
  get damage(): undefined {
    return undefined;
  }

  get isReadOnly(): boolean {
    return this.#server.readOnly || this.#reading !== undefined;
  }

  get term(): string {
    return this.#connection.term;
  }

  async declare(collections: readonly Collection[]): Promise<void> {
    for (const collection of collections) {
      const declared = compileCollection(collection);
      const hasFormer = await declareIn(this.#connection, declared, this.#server);
      if (hasFormer) this.#server.former.dropLater(declared);
      this.#collections.add(collection, entryOf(declared));
    }
  }

  async forget(collections: readonly Collection[]): Promise<boolean> {
    return forgetIn(this.#connection, collections);
  }

  async openStored(): Promise<readonly Collection[]> {
    const stored = collectionsOf(await this.#connection.retryable(readDeclarations));
    for (const collection of stored)
      this.#collections.add(collection, entryOf(compileCollection(collection)));
    return stored;
  }

  /** Idempotent reads of one collection. */
  #documents<T>(
    { declared }: Entry,
    work: (
      documents: MongoCollection<StoredDocument>,
      options: { readonly session?: ClientSession; readonly signal?: AbortSignal },
    ) => Promise<T>,
  ): Promise<T> {
    const [reading, signal] = [this.#reading, this.#signal];
    const until = signal === undefined ? {} : { signal };
    if (reading !== undefined)
      return work(reading.db.collection(declared.name), { session: reading.session, ...until });
    return this.#connection.retryable((db) => work(db.collection<StoredDocument>(declared.name), until));
  }

  within(signal: AbortSignal): Store {
    const both = this.#signal === undefined ? signal : AbortSignal.any([this.#signal, signal]);
    // The driver listens once a query: a request with more than ten at once is no leak.
    setMaxListeners(0, both);
    return new MongoStore(this.#connection, this.#server, {
      collections: this.#collections,
      reading: this.#reading,
      signal: both,
    });
  }

  size(): Promise<StoreSize> {
    return this.#connection.retryable(readSize);
  }

  async snapshot<C extends Collection, T>(
    target: C,
    key: Partial<RowOf<C>>,
    read: (view: Store) => Promise<T>,
  ): Promise<{ readonly value: T } | undefined> {
    this.#signal?.throwIfAborted();
    if (!this.#server.snapshots || this.#reading !== undefined) return undefined;
    const [collections, signal] = [this.#collections, this.#signal];
    const viewOf = (reading: Reading) =>
      new MongoStore(this.#connection, this.#server, { collections, reading, signal });
    return readSnapshot(this.#connection, {
      id: snapshotId(collections.get(target), key),
      signal,
      read: (session, db) => read(viewOf({ session, db })),
    });
  }

  /** A view has a past state, which nothing can be added to. */
  #requireWritable(): void {
    if (this.#reading !== undefined) throw new Error("Cannot write to a snapshot: it is read only");
    if (this.#server.readOnly) throw new Error("Cannot write: this process may only read the store");
  }

  openRows<C extends Collection, L extends FieldOf<C> = never>(
    _of: C,
    orderedBy: FieldOf<C> | null,
    later?: readonly L[],
  ): RowList<RowOf<C>, L> {
    return new ObjectRowList(orderedBy, later);
  }

  /** The server works beside this process in any case. */
  openBulkWriter(): BulkWriter {
    return writeCopies(this);
  }

  async write(steps: readonly WriteStep[]): Promise<void> {
    this.#requireWritable();
    await writeSteps(this.#writing, steps);
  }

  async get<C extends Collection>(from: C, key: Partial<RowOf<C>>): Promise<RowOf<C> | undefined> {
    const entry = this.#collections.get(from);
    const filter = keysFilter(entry, [key], this.#server);
    const document = await this.#documents(entry, (documents, options) => documents.findOne(filter, options));
    return rowsOf(document === null ? [] : [document], entry.declared.fields)[0] as RowOf<C> | undefined;
  }

  async getMany<C extends Collection>(from: C, keys: readonly Partial<RowOf<C>>[]): Promise<RowOf<C>[]> {
    const entry = this.#collections.get(from);
    const distinct = [...new Map(keys.map((key) => [keyId(entry, key), key])).values()];
    const chunks = Array.from({ length: Math.ceil(distinct.length / KEYS_A_QUERY) }, (_, i) =>
      distinct.slice(i * KEYS_A_QUERY, (i + 1) * KEYS_A_QUERY),
    );
    const read = (chunk: readonly Partial<RowOf<C>>[]): Promise<StoredDocument[]> =>
      this.#documents(entry, (documents, options) =>
        documents
          .find(keysFilter(entry, chunk, this.#server), { ...options, batchSize: KEYS_A_QUERY + 1 })
          .toArray(),
      );
    const documents = (await Promise.all(chunks.map(read))).flat();
    return rowsOf(documents, entry.declared.fields) as RowOf<C>[];
  }

  async getLast<C extends Collection>(
    from: C,
    keys: readonly Partial<RowOf<C>>[],
    by?: readonly (keyof RowOf<C> & string)[],
  ): Promise<RowOf<C>[]> {
    const entry = this.#collections.get(from);
    const names = by ?? entry.declared.key.map((field) => field.name);
    const distinct = new Map(
      keys.map((key) => [names.map((name) => JSON.stringify(String(key[name as never]))).join(), key]),
    );
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
    const { sharded } = this.#server;
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
        const query = toMongoQuery(declared, { ...parsed, where, order, sharded });
        const { sort, hint } = query;
        const batchSize = Math.min(limit + 1, 10_000);
        const page = limit === Number.POSITIVE_INFINITY ? { batchSize } : { limit, batchSize };
        const asked = { projection, sort, skip, ...page, ...(hint !== undefined && { hint }) };
        const read = (filter: Document) =>
          this.#documents(entry, (documents, options) =>
            documents.find<StoredRow>(filter, { ...options, ...asked }).toArray(),
          );
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
    const { sharded } = this.#server;
    const { filter, hint } = toMongoQuery(entry.declared, { ...selection, order: [], sharded });
    return this.#documents(entry, (documents, options) =>
      documents.countDocuments(filter, { ...options, ...(hint !== undefined && { hint }) }),
    );
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
    const { sharded } = this.#server;
    const { filter: match, hint } = toMongoQuery(entry.declared, { where, order: [], sharded });
    const totals = Object.fromEntries(fields.map(({ name }) => [name, { $sum: `$${name}` }]));
    const pipeline = [{ $match: match }, { $group: { _id: null, ...totals } }];
    const [group] = await this.#documents(entry, (documents, options) =>
      documents.aggregate(pipeline, { ...options, ...(hint !== undefined && { hint }) }).toArray(),
    );
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
    this.#requireWritable();
    const { sharded } = this.#server;
    const document = documentOf(entry, row);
    // Never retried: after a lost response it is unknown whether this call wrote.
    if (expected !== null) {
      const { filter } = toMongoQuery(declared, {
        where: parseFilter(declared, encoders, expected),
        order: [],
        sharded,
      });
      const match = { $and: [documentFilter(entry, document, { sharded }), filter] };
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
      const same = documentFilter(entry, document, { sharded });
      if (
        isDuplicate(error) &&
        (await this.#documents(entry, (documents) => documents.countDocuments(same))) === 1
      )
        return false;
      throw error;
    }
  }

  async plan<C extends Collection>(from: C, query: Query<RowOf<C>>): Promise<QueryPlan> {
    const entry = this.#collections.get(from);
    const { declared, encoders } = entry;
    const parsed = parseQuery(declared, encoders, query as UntypedQuery);
    const { filter, ...asked } = toMongoQuery(declared, { ...parsed, sharded: this.#server.sharded });
    const limited = parsed.limit !== Number.POSITIVE_INFINITY;
    try {
      const options = { ...asked, skip: parsed.skip, ...(limited ? { limit: parsed.limit } : {}) };
      const explained = await this.#documents(entry, (documents) =>
        documents.find(filter, options).explain("queryPlanner"),
      );
      return planOfExplain(explained, { filtered: parsed.where.length > 0, limited });
    } catch {
      return "unknown";
    }
  }

  async close(): Promise<void> {
    if (this.#reading !== undefined) throw new Error("Cannot close a snapshot: it ends by itself");
    this.#server.former.close();
    await this.#connection.close();
  }
}
