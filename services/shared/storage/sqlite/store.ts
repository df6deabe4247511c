/**
 * The embedded store. Several processes may open one file: any number of readers beside one writer at a time.
 *
 * The hot path writes 48,000 rows a second of 20 fields and one index, or 96,000 of numbers alone, on 2 shared cores;
 * storage.bench.ts measures it and names the bottleneck.
 */
import { writeCopies } from "../bulk-writer.ts";
import type { Collection, FieldOf, RowOf, SummableField } from "../collection.ts";
import {
  type CompiledCollection,
  compileCollection,
  DeclaredCollections,
  type FieldInfo,
} from "../declaration.ts";
import {
  type BulkWriter,
  type Filter,
  isEmpty,
  type Query,
  type QueryPlan,
  type Selection,
  type Store,
  type StoreSize,
  type WriteStep,
} from "../port.ts";
import {
  fieldsNamed,
  type ParsedQuery,
  parseFilter,
  parseQuery,
  parseSelection,
  summable,
  tooLarge,
  totalsOf,
  type UntypedQuery,
} from "../query.ts";
import type { RowList } from "../row-list.ts";
import { collectionsOf } from "../stored-collections.ts";
import type { Stored } from "../values.ts";
import { unlessAborted } from "../within.ts";
import type { Connection } from "./connection.ts";
import { declareIn, forgetIn } from "./declare.ts";
import { packKeys } from "./keys/packed-keys.ts";
import { sortTexts } from "./keys/sort.ts";
import { MEMORY, messageOf, openConnection, type SqliteOptions } from "./open-connection.ts";
import { type Operation, operationsOf, release, runOperations } from "./operations.ts";
import { BlockPool } from "./packed/blocks.ts";
import { PackedRowList } from "./packed/row-list.ts";
import { openSpill, type SpillFile } from "./packed/spill-file.ts";
import { readDeclarations } from "./read-declarations.ts";
import {
  type Entry,
  encodeCells,
  entryOf,
  keyCells,
  keyPredicates,
  keyWriter,
  rowsOf,
  rowsOfPacked,
} from "./rows.ts";
import { sizeOfFile } from "./size.ts";
import {
  type Change,
  countSql,
  ESCAPES,
  insertIfAbsentSql,
  isTextList,
  planOf,
  type Sql,
  selectByKeySql,
  selectByKeysSql,
  selectJoinedSql,
  selectLastSql,
  selectPackedSql,
  selectSql,
  sumSql,
  TEXT_SEPARATOR,
  updateSql,
} from "./sql.ts";
import { openBulkWriter, type SqliteBulkWriter } from "./thread/bulk-writer.ts";
import { Views } from "./views.ts";

/** Opens or creates the file. @throws Error that names the path. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const found: Damage = { error: undefined };
  const onDamage = (error: unknown) => {
    found.error ??= error;
  };
  const watched = { ...options, onDamage };
  return new SqliteStore(await openConnection(watched), watched, { damage: found });
}

/** What any connection of a file has found. */
interface Damage {
  error: unknown;
}

class SqliteStore implements Store {
  readonly engine = "sqlite";
  readonly #connection: Connection;
  readonly #options: SqliteOptions;
  readonly #path: string;
  readonly #readOnly: boolean;
  readonly #collections: DeclaredCollections<Entry>;
  /** Undefined where there are none: in memory, and of a view. */
  readonly #views: Views | undefined;

  readonly #damage: Damage;
  /** Of rows that wait for a write. */
  readonly #pool = new BlockPool();
  readonly #spill: SpillFile | undefined;
  /**
   * Those that are open. While there is one, all is written by its thread, which holds the file's lock most of the time.
   * Here even the write of a row would hold this thread while it waits for the lock, and miss the moments between two writes,
   * in which this thread is busy.
   */
  readonly #bulkWriters = new Set<SqliteBulkWriter>();

  /** With `collections`: a view, whose connection is that of its transaction. */
  constructor(
    connection: Connection,
    options: SqliteOptions,
    { damage, collections }: { damage: Damage; collections?: DeclaredCollections<Entry> },
  ) {
    this.#damage = damage;
    this.#connection = connection;
    this.#options = options;
    this.#path = options.path;
    this.#readOnly = options.readOnly === true;
    this.#collections = collections ?? new DeclaredCollections<Entry>();
    const hasViews = collections === undefined && options.path !== MEMORY;
    this.#spill = openSpill(options);
    this.#views = hasViews ? new Views(() => openConnection({ ...options, readOnly: true })) : undefined;
  }

  get isReadOnly(): boolean {
    return this.#readOnly;
  }

  get term(): string {
    return "";
  }

  get damage(): string | undefined {
    return this.#damage.error === undefined ? undefined : messageOf(this.#damage.error);
  }

  within(signal: AbortSignal): Store {
    return unlessAborted(this, signal);
  }

  async size(): Promise<StoreSize> {
    return sizeOfFile(this.#path);
  }

  async snapshot<C extends Collection, T>(
    _of: C,
    _key: Partial<RowOf<C>>,
    read: (view: Store) => Promise<T>,
  ): Promise<{ readonly value: T } | undefined> {
    if (this.#views === undefined) return undefined;
    const options = { path: this.#path, readOnly: true };
    return {
      value: await this.#views.use((connection) =>
        read(new SqliteStore(connection, options, { damage: this.#damage, collections: this.#collections })),
      ),
    };
  }

  async declare(collections: readonly Collection[]): Promise<void> {
    const place = { path: this.#path, readOnly: this.#readOnly };
    const stored = await declareIn(this.#connection, collections, place);
    for (const [i, declared] of stored.entries())
      this.#collections.add(collections[i] as Collection, entryOf(declared));
  }

  async forget(collections: readonly Collection[]): Promise<boolean> {
    return forgetIn(this.#connection, collections);
  }

  async openStored(): Promise<readonly Collection[]> {
    const stored = collectionsOf(readDeclarations(this.#connection));
    for (const collection of stored)
      this.#collections.add(collection, entryOf(compileCollection(collection)));
    return stored;
  }

  async write(steps: readonly WriteStep[]): Promise<void> {
    const [writer] = this.#bulkWriters;
    if (writer !== undefined) return writer.write(steps);
    const operations = this.#operationsOf(steps);
    try {
      await this.#run(operations);
    } finally {
      release(operations);
    }
  }

  openRows<C extends Collection, L extends FieldOf<C> = never>(
    target: C,
    orderedBy: FieldOf<C> | null,
    later: readonly L[] = [],
  ): RowList<RowOf<C>, L> {
    const place = { pool: this.#pool, file: this.#spill };
    return new PackedRowList(this.#collections.get(target), { orderedBy, later, ...place });
  }

  openBulkWriter(onFailure: (reason: string) => void): BulkWriter {
    if (this.#path === MEMORY) return writeCopies(this);
    const writer = openBulkWriter(this.#options, {
      connection: this.#connection,
      operationsOf: (steps) => this.#operationsOf(steps),
      run: (operations) => this.#run(operations),
      change: (statement) => this.#change(statement),
      onFailure,
      pool: this.#pool,
      spill: this.#spill,
      onClose: () => void this.#bulkWriters.delete(writer),
    });
    this.#bulkWriters.add(writer);
    return writer;
  }

  #change({ text, params }: Change): Promise<number> {
    return this.#connection.retrying(() => this.#connection.run(text, params));
  }

  #operationsOf(steps: readonly WriteStep[]): Operation[] {
    const operations = (step: WriteStep) => operationsOf(this.#collections.get(step.collection), step);
    return steps
      .filter((step) => !isEmpty(step))
      .flatMap((step) =>
        "fence" in step && step.fence !== undefined
          ? [...operations(step.fence.guard), ...operations(step)]
          : operations(step),
      );
  }

  async #run(operations: readonly Operation[]): Promise<void> {
    if (operations.length === 0) return;
    await this.#connection.retrying(() =>
      this.#connection.transaction("write", () => runOperations(this.#connection, operations)),
    );
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
    const { declared } = entry;
    const packed = packKeys(keys, entry.key);
    if (packed !== undefined) {
      const text = selectPackedSql(declared, packed);
      const found = await this.#connection.retrying(() => this.#connection.allOfPacked(text, packed));
      return rowsOfPacked(found, { declared, keys: packed.keys }) as RowOf<C>[];
    }
    const found = await this.#selectEach(entry, { text: selectByKeysSql(declared), keys });
    return rowsOf(found, declared.fields) as RowOf<C>[];
  }

  async getLast<C extends Collection>(
    from: C,
    keys: readonly Partial<RowOf<C>>[],
    by?: readonly (keyof RowOf<C> & string)[],
  ): Promise<RowOf<C>[]> {
    const entry = this.#collections.get(from);
    const { declared } = entry;
    const fields = by === undefined ? declared.key : fieldsNamed(declared, by);
    const found = await this.#selectEach(entry, { text: selectLastSql(declared, fields), keys, fields });
    // Several keys may share the same last row.
    const rows = new Map(found.map((cells) => [JSON.stringify(keyCells(declared, cells)), cells]));
    return rowsOf([...rows.values()], declared.fields) as RowOf<C>[];
  }

  /** Runs a statement for some thousand keys at a time, in one read transaction: all see one snapshot. */
  async #selectEach(
    entry: Entry,
    {
      text,
      keys,
      fields = entry.declared.key,
    }: {
      text: string;
      keys: readonly Readonly<Record<string, unknown>>[];
      fields?: readonly FieldInfo[];
    },
  ): Promise<Stored[][]> {
    // Sorted: neighbours are on one page.
    const distinct = sortTexts([...new Set(keys.map(keyWriter(entry, fields)))]);
    return this.#connection.retrying(() => this.#connection.allOfKeys(text, distinct));
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
        // The engine itself rejects totals beyond 64 bits, and its driver those beyond 53.
        const isTooLarge = /integer overflow|too large to be represented/.test(messageOf(error));
        throw isTooLarge ? tooLarge(declared, "an int field") : error;
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
    const values = encodeCells(entry, row, []);
    let sql: Sql = { text: insertIfAbsentSql(declared), params: [] };
    if (expected !== null) {
      sql = updateSql(declared, [...keyPredicates(entry, row), ...parseFilter(declared, encoders, expected)]);
    }
    const statement = { text: sql.text, params: [...values, ...sql.params] };
    const [writer] = this.#bulkWriters;
    return (await (writer?.change(statement) ?? this.#change(statement))) === 1;
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
    this.#views?.close();
    this.#connection.close();
    this.#spill?.close();
  }
}
