import type { Collection, RowOf } from "../../../shared/storage/collection.ts";
import { put, remove, type Store, type WriteStep } from "../../../shared/storage/port.ts";

/** About 10 MB: the documents of the last hundred blocks. */
const MAX_ENTRIES = 30_000;

type Key<C extends Collection> = Partial<RowOf<C>>;

/** A document after a batch and before it; null = absent. */
export interface Change<R> {
  readonly key: Partial<R>;
  readonly row: R | null;
  readonly before: R | null;
}

/**
 * Write-back cache of one collection: blocks change documents, which are written whole. A batch loads what it needs in one
 * read; the least recently used documents are evicted after it.
 */
export class DocumentCache<C extends Collection> {
  readonly collection: C;
  readonly #store: Store;
  readonly #maxEntries: number;
  /** Null = known to be absent. In the order of last use. */
  #docs = new Map<string, RowOf<C> | null>();
  readonly #idOf: (row: Key<C>) => string;
  #before = new Map<string, { key: Key<C>; row: RowOf<C> | null }>();

  constructor(store: Store, options: { collection: C; maxEntries?: number }) {
    this.#store = store;
    this.collection = options.collection;
    this.#idOf = createKeyFormatter(options.collection.key) as (row: Key<C>) => string;
    this.#maxEntries = options.maxEntries ?? MAX_ENTRIES;
  }

  /** Reads those that are not in memory. Only loaded documents may be read or set. */
  async load(keys: Iterable<Key<C>>): Promise<void> {
    const missing = new Map<string, Key<C>>();
    for (const key of keys) {
      const id = this.#idOf(key);
      const known = this.#docs.get(id);
      if (known === undefined) {
        missing.set(id, key);
        continue;
      }
      this.#docs.delete(id);
      this.#docs.set(id, known);
    }
    if (missing.size === 0) return;
    const rows = await this.#store.getMany(this.collection, [...missing.values()]);
    for (const id of missing.keys()) this.#docs.set(id, null);
    for (const row of rows) this.#docs.set(this.#idOf(row as Key<C>), row);
  }

  /** Marks a document as absent without a query. */
  assumeAbsent(key: Key<C>): void {
    const id = this.#idOf(key);
    if (!this.#docs.has(id)) this.#docs.set(id, null);
  }

  /** The same as `get`, and undefined for a document that is not loaded. */
  find(key: Key<C>): RowOf<C> | undefined {
    return this.#docs.get(this.#idOf(key)) ?? undefined;
  }

  get(key: Key<C>): RowOf<C> | undefined {
    return this.#known(this.#idOf(key)) ?? undefined;
  }

  /** Replaces a document, or removes it with null. */
  set(key: Key<C>, row: RowOf<C> | null): void {
    const id = this.#idOf(key);
    const known = this.#known(id);
    if (!this.#before.has(id)) this.#before.set(id, { key, row: known });
    this.#docs.set(id, row);
  }

  /** Changes since the last call. The returned documents never change again: `set` replaces them. */
  take(): Change<RowOf<C>>[] {
    const changes = [...this.#before].map(([id, { key, row }]) => ({
      key,
      row: this.#docs.get(id) ?? null,
      before: row,
    }));
    this.#before = new Map();
    this.#dropOldest();
    return changes.filter(({ row, before }) => row !== null || before !== null);
  }

  /** Drops everything: others changed the store, or a write failed. */
  clear(): void {
    this.#docs = new Map();
    this.#before = new Map();
  }

  #known(id: string): RowOf<C> | null {
    const known = this.#docs.get(id);
    if (known === undefined) throw new Error(`${this.collection.name} ${id} was not loaded.`);
    return known;
  }

  #dropOldest(): void {
    let excess = this.#docs.size - this.#maxEntries;
    for (const id of this.#docs.keys()) {
      if (excess-- <= 0) return;
      this.#docs.delete(id);
    }
  }
}

/** Formats keys as texts. Unrolled for the usual lengths: it runs for every change of every document. */
function createKeyFormatter([first = "", second = "", ...rest]: readonly string[]): (
  row: Record<string, unknown>,
) => string {
  if (second === "") return (row) => String(row[first]);
  if (rest.length === 0) return (row) => `${row[first]} ${row[second]}`;
  return (row) => `${row[first]} ${row[second]} ${rest.map((field) => row[field]).join(" ")}`;
}

/** The steps that store changes. */
export function writeChanges<C extends Collection>(
  target: C,
  changes: readonly Change<RowOf<C>>[],
): WriteStep[] {
  const rows = changes.map(({ row }) => row).filter((row) => row !== null);
  const gone = changes.filter(({ row }) => row === null).map(({ key }) => key);
  return [
    ...(rows.length > 0 ? [put(target, rows)] : []),
    ...(gone.length > 0 ? [remove(target, gone)] : []),
  ];
}
