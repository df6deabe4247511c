/**
 * The embedded store. Several processes may open one file: any number of readers beside one writer at a time.
 *
 * The hot path writes 48,000 rows a second of 20 fields and one index, or 96,000 of numbers alone, on 2 shared cores;
 * storage.bench.ts measures it and names the bottleneck.
 */
import type Libsql from "libsql";
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
  type Query,
  type QueryPlan,
  type RowOf,
  type Selection,
  type Store,
  type SummableField,
  type WriteStep,
} from "../port.ts";
import {
  type ParsedQuery,
  parseFilter,
  parseQuery,
  parseSelection,
  summable,
  tooLarge,
  totalsOf,
  type UntypedQuery,
} from "../query.ts";
import type { Stored } from "../values.ts";
import { Connection } from "./connection.ts";
import { type Entry, encodeRow, entryOf, keyCells, keyPredicates, rowsOf } from "./rows.ts";
import {
  countSql,
  createSql,
  deleteByKeySql,
  deleteSql,
  ESCAPES,
  insertIfAbsentSql,
  planOf,
  type Sql,
  selectByKeySql,
  selectJoinedSql,
  selectLastSql,
  selectSql,
  sumSql,
  TEXT_SEPARATOR,
  updateSql,
} from "./sql.ts";

export interface SqliteOptions {
  /** A file whose folder exists, or ":memory:". */
  readonly path: string;
  /** How much of the file is memory-mapped; 64 MiB by default. Mapped pages count as memory of the process. */
  readonly mappedBytes?: number;
  /** Rejects every write; the file must exist. */
  readonly readOnly?: boolean;
  /** How long a write waits for another process's transaction before it fails; 30 s by default. */
  readonly busyTimeoutMs?: number;
}

/** Opens or creates the file. @throws Error that names the path. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { default: Database } = await import("libsql");
  const { existsSync } = await import("node:fs");
  const inMemory = options.path === ":memory:";
  if (options.readOnly && !inMemory && !existsSync(options.path)) {
    throw new Error(`Cannot open ${options.path} for reading: there is no such file yet`);
  }
  let db: Libsql.Database;
  try {
    db = new Database(options.path, { timeout: DRIVER_WAIT_MS });
  } catch (cause) {
    throw new Error(`Cannot open the SQLite file ${options.path}: ${messageOf(cause)}`, { cause });
  }
  const connection = new Connection(db, options.busyTimeoutMs ?? 30_000);
  try {
    await connection.retrying(() => configure(connection, options));
  } catch (cause) {
    db.close();
    throw new Error(`Cannot open the SQLite file ${options.path}: ${messageOf(cause)}`, { cause });
  }
  return new SqliteStore(connection, options);
}

/** The driver blocks the event loop while it waits for a lock, so it waits briefly and `retrying` waits asynchronously. */
const DRIVER_WAIT_MS = 10;

function configure(connection: Connection, options: SqliteOptions): void {
  if (options.readOnly) {
    connection.exec("PRAGMA query_only = 1");
  } else {
    connection.exec("PRAGMA page_size = 8192");
    const mode = connection.all("PRAGMA journal_mode = WAL")[0]?.[0];
    if (mode !== "wal" && mode !== "memory")
      throw new Error("this file system does not allow write-ahead logging");
    connection.exec(
      "CREATE TABLE IF NOT EXISTS _collections (name TEXT NOT NULL PRIMARY KEY, declaration TEXT NOT NULL) STRICT, WITHOUT ROWID",
    );
  }
  // NORMAL in WAL mode: a power cut may lose the last transactions, never consistency; a killed process loses nothing.
  connection.exec("PRAGMA synchronous = NORMAL");
  connection.exec("PRAGMA cache_size = -32768");
  connection.exec(`PRAGMA mmap_size = ${Math.trunc(options.mappedBytes ?? 2 ** 26)}`);
  connection.exec("PRAGMA temp_store = MEMORY");
  // As many pages as fit into journal_size_limit: a page that many transactions change is copied to the file once.
  connection.exec("PRAGMA wal_autocheckpoint = 8000");
  connection.all("PRAGMA journal_size_limit = 67108864");
}

class SqliteStore implements Store {
  readonly engine = "sqlite";
  readonly #connection: Connection;
  readonly #path: string;
  readonly #readOnly: boolean;
  readonly #collections = new DeclaredCollections<Entry>();

  constructor(connection: Connection, { path, readOnly }: SqliteOptions) {
    this.#connection = connection;
    this.#path = path;
    this.#readOnly = readOnly === true;
  }

  async declare(collections: readonly Collection[]): Promise<void> {
    const entries = collections.map(
      (collection) => [collection, entryOf(compileCollection(collection))] as const,
    );
    const readStored = (): Map<unknown, unknown> =>
      new Map(
        this.#connection
          .all("SELECT name, declaration FROM _collections")
          .map(([name, text]) => [name, text]),
      );
    const missing = (stored: Map<unknown, unknown>): CompiledCollection[] => {
      const declarations = new Map(entries.map(([, { declared }]) => [declared.name, declared]));
      for (const [, { declared }] of entries) {
        const before = stored.get(declared.name) ?? declarations.get(declared.name)?.fingerprint;
        if (before !== declared.fingerprint) {
          throw changedDeclarationError(declared, { stored: String(before), place: this.#path });
        }
      }
      return [...declarations.values()].filter((declared) => !stored.has(declared.name));
    };
    await this.#connection.retrying(() => {
      // Usually all exist: then no lock is needed, and a read-only store can declare too.
      const [absent] = missing(readStored());
      if (absent === undefined) return;
      if (this.#readOnly)
        throw new Error(`Cannot read collection "${absent.name}": it is not in ${this.#path} yet`);
      this.#connection.transaction("write", () => {
        for (const declared of missing(readStored())) {
          for (const sql of createSql(declared)) this.#connection.exec(sql);
          this.#connection.run("INSERT INTO _collections VALUES (?, ?)", [
            declared.name,
            declared.fingerprint,
          ]);
        }
      });
    });
    for (const [collection, entry] of entries) this.#collections.add(collection, entry);
  }

  async write(steps: readonly WriteStep[]): Promise<void> {
    const work = steps.filter((step) => !isEmpty(step));
    if (work.length === 0) return;
    await this.#connection.retrying(() =>
      this.#connection.transaction("write", () => {
        for (const step of work) this.#apply(step);
      }),
    );
  }

  #apply(step: WriteStep): void {
    const entry = this.#collections.get(step.collection);
    const { declared, encoders } = entry;
    if (step.kind === "put") {
      // One row a call: measured, multi-row VALUES are no faster, since converting the values costs more than the calls.
      const statement = this.#connection.prepare(entry.upsert);
      const params: Stored[] = new Array(declared.fields.length).fill(null);
      for (const row of step.rows) statement.run(encodeRow(entry, row, params));
      return;
    }
    if (step.kind === "remove") {
      const statement = this.#connection.prepare(deleteByKeySql(declared));
      for (const row of step.keys) statement.run(keyPredicates(entry, row).map((p) => p.value));
      return;
    }
    if (step.kind === "require") {
      const where = [...keyPredicates(entry, step.key), ...parseFilter(declared, encoders, step.expected)];
      const { text, params } = countSql(declared, { where, anyOf: [], via: undefined });
      if (this.#connection.all(text, params)[0]?.[0] !== 1) throw new ConflictError(declared.name);
      return;
    }
    const { text, params } = deleteSql(declared, parseFilter(declared, encoders, step.filter));
    this.#connection.run(text, params);
  }

  async get<C extends Collection>(from: C, key: Partial<RowOf<C>>): Promise<RowOf<C> | undefined> {
    const entry = this.#collections.get(from);
    const { declared } = entry;
    const params = keyPredicates(entry, key).map((p) => p.value);
    const rows = await this.#connection.retrying(() =>
      this.#connection.all(selectByKeySql(declared), params),
    );
    return rowsOf(rows, declared.fields)[0] as RowOf<C> | undefined;
  }

  async getMany<C extends Collection>(from: C, keys: readonly Partial<RowOf<C>>[]): Promise<RowOf<C>[]> {
    const entry = this.#collections.get(from);
    return rowsOf(
      await this.#selectEach(entry, { text: selectByKeySql(entry.declared), keys }),
      entry.declared.fields,
    ) as RowOf<C>[];
  }

  async getLast<C extends Collection>(from: C, keys: readonly Partial<RowOf<C>>[]): Promise<RowOf<C>[]> {
    const entry = this.#collections.get(from);
    const { declared } = entry;
    const found = await this.#selectEach(entry, { text: selectLastSql(declared), keys });
    // Several keys may share the same last row.
    const rows = new Map(found.map((cells) => [JSON.stringify(keyCells(declared, cells)), cells]));
    return rowsOf([...rows.values()], declared.fields) as RowOf<C>[];
  }

  /** Runs a statement for each key, in one read transaction: one snapshot, and one lock instead of one a row. */
  async #selectEach(
    entry: Entry,
    { text, keys }: { text: string; keys: readonly Readonly<Record<string, unknown>>[] },
  ): Promise<Stored[][]> {
    const distinct = new Map<string, readonly Stored[]>();
    for (const key of keys) {
      const values = keyPredicates(entry, key).map((p) => p.value);
      distinct.set(JSON.stringify(values), values);
    }
    if (distinct.size === 0) return [];
    return this.#connection.retrying(() =>
      this.#connection.transaction("read", () => {
        const found: Stored[][] = [];
        for (const params of distinct.values()) found.push(...this.#connection.all(text, params));
        return found;
      }),
    );
  }

  async find<C extends Collection, K extends keyof RowOf<C> = keyof RowOf<C>>(
    from: C,
    query: Query<RowOf<C>, K>,
  ): Promise<Pick<RowOf<C>, K>[]> {
    const { declared, encoders } = this.#collections.get(from);
    const parsed = parseQuery(declared, encoders, query as UntypedQuery);
    const texts = isTextList(parsed) ? await this.#findTexts(declared, parsed) : undefined;
    const rows = texts ?? rowsOf(await this.#select(selectSql(declared, parsed)), parsed.fields);
    return rows as Pick<RowOf<C>, K>[];
  }

  /**
   * Reads a long list of one text field as one joined text: half the time, since passing a value from the driver costs
   * more than reading it. Undefined if a text is escaped and might contain the separator.
   */
  async #findTexts(
    declared: CompiledCollection,
    parsed: ParsedQuery,
  ): Promise<Record<string, unknown>[] | undefined> {
    const [[joined] = []] = await this.#select(selectJoinedSql(declared, parsed));
    if (joined === null) return [];
    const text = joined as string;
    if (ESCAPES.some((escaped) => text.includes(escaped))) return undefined;
    const { name } = parsed.fields[0] as ParsedQuery["fields"][number];
    return text.split(TEXT_SEPARATOR).map((value) => ({ [name]: value }));
  }

  #select({ text, params }: Sql): Promise<Stored[][]> {
    return this.#connection.retrying(() => this.#connection.all(text, params));
  }

  async count<C extends Collection>(
    from: C,
    filter: Filter<RowOf<C>>,
    selection: Selection<RowOf<C>> = {},
  ): Promise<number> {
    const { declared, encoders } = this.#collections.get(from);
    const { text, params } = countSql(declared, parseSelection(declared, encoders, { filter, ...selection }));
    const rows = await this.#connection.retrying(() => this.#connection.all(text, params));
    return rows[0]?.[0] as number;
  }

  async sum<C extends Collection, K extends SummableField<C>>(
    from: C,
    filter: Filter<RowOf<C>>,
    names: readonly K[],
  ): Promise<Record<K, number>> {
    const { declared, encoders } = this.#collections.get(from);
    const fields = summable(declared, names);
    const where = parseFilter(declared, encoders, filter);
    if (fields.length === 0) return {} as Record<K, number>;
    const { text, params } = sumSql(declared, { where, fields });
    const [totals] = await this.#connection
      .retrying(() => this.#connection.all(text, params))
      .catch((error: unknown) => {
        // The engine itself rejects totals beyond 64 bits.
        throw /integer overflow/.test(messageOf(error)) ? tooLarge(declared, "an int field") : error;
      });
    return totalsOf(declared, fields, totals as Stored[]);
  }

  async compareAndSet<C extends Collection>(
    target: C,
    row: RowOf<C>,
    expected: Filter<RowOf<C>> | null,
  ): Promise<boolean> {
    const entry = this.#collections.get(target);
    const { declared, encoders } = entry;
    const values = encodeRow(entry, row, []);
    let sql: Sql = { text: insertIfAbsentSql(declared), params: [] };
    if (expected !== null) {
      sql = updateSql(declared, [...keyPredicates(entry, row), ...parseFilter(declared, encoders, expected)]);
    }
    return (
      (await this.#connection.retrying(() => this.#connection.run(sql.text, [...values, ...sql.params]))) ===
      1
    );
  }

  async plan<C extends Collection>(from: C, query: Query<RowOf<C>>): Promise<QueryPlan> {
    const { declared, encoders } = this.#collections.get(from);
    const parsed = parseQuery(declared, encoders, query as UntypedQuery);
    const sql = selectSql(declared, parsed);
    const steps = await this.#connection.retrying(() =>
      this.#connection.all(`EXPLAIN QUERY PLAN ${sql.text}`, sql.params),
    );
    return planOf(
      steps.map((step) => String(step[3])),
      parsed,
    );
  }

  async close(): Promise<void> {
    this.#connection.close();
  }
}

/** With fewer rows joining does not pay. */
const LEAST_TEXTS = 32;

function isTextList({ fields, limit }: ParsedQuery): boolean {
  const [field] = fields;
  return fields.length === 1 && field?.type === "text" && !field.nullable && limit >= LEAST_TEXTS;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
