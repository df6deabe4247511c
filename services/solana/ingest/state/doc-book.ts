import type { Collection, RowOf, Store } from "../../../shared/storage/port.ts";

/** Documents that blocks change, and as they were before: what is written, and how to take it back. */
export interface Changes<R> {
  readonly rows: R[];
  /** Each changed document as it was stored before, null where there was none; in the order of `rows`. */
  readonly before: (R | null)[];
}

/**
 * Documents of one collection in memory, changed by blocks and written as wholes. What a batch needs is loaded before
 * it in one read; what was not used for long is dropped after it and read again when needed.
 */
export class DocBook<C extends Collection> {
  readonly #store: Store;
  readonly #collection: C;
  readonly #maxEntries: number;
  /** Null = known to be absent. In the order of their last use. */
  #docs = new Map<string, RowOf<C> | null>();
  #before = new Map<string, RowOf<C> | null>();

  constructor(store: Store, of: { collection: C; maxEntries?: number }) {
    this.#store = store;
    this.#collection = of.collection;
    this.#maxEntries = of.maxEntries ?? 200_000;
  }

  /** Reads those that are not in memory. Nothing but loaded documents may be asked for or set. */
  async load(keys: Iterable<Partial<RowOf<C>>>): Promise<void> {
    const missing = new Map<string, Partial<RowOf<C>>>();
    for (const key of keys) {
      const id = this.#idOf(key);
      const known = this.#docs.get(id);
      if (known === undefined) missing.set(id, key);
      else this.#touch(id, known);
    }
    if (missing.size === 0) return;
    for (const id of missing.keys()) this.#docs.set(id, null);
    for (const row of await this.#store.getMany(this.#collection, [...missing.values()]))
      this.#docs.set(this.#idOf(row as Partial<RowOf<C>>), row);
  }

  get(key: Partial<RowOf<C>>): RowOf<C> | undefined {
    const doc = this.#docs.get(this.#idOf(key));
    if (doc === undefined) throw new Error(`${this.#collection.name} ${this.#idOf(key)} was not loaded.`);
    return doc ?? undefined;
  }

  set(row: RowOf<C>): void {
    const id = this.#idOf(row as Partial<RowOf<C>>);
    const known = this.#docs.get(id);
    if (known === undefined) throw new Error(`${this.#collection.name} ${id} was not loaded.`);
    if (!this.#before.has(id)) this.#before.set(id, known);
    this.#docs.set(id, row);
  }

  /** What changed since the last call. The documents it answers are never changed again: `set` replaces them. */
  take(): Changes<RowOf<C>> {
    const rows: RowOf<C>[] = [];
    const before: (RowOf<C> | null)[] = [];
    for (const [id, was] of this.#before) {
      rows.push(this.#docs.get(id) as RowOf<C>);
      before.push(was);
    }
    this.#before = new Map();
    this.#dropOldest();
    return { rows, before };
  }

  /** Forgets everything: the store was changed by others. Changes that were not taken are lost. */
  clear(): void {
    this.#docs = new Map();
    this.#before = new Map();
  }

  #touch(id: string, doc: RowOf<C> | null): void {
    this.#docs.delete(id);
    this.#docs.set(id, doc);
  }

  #dropOldest(): void {
    let excess = this.#docs.size - this.#maxEntries;
    for (const id of this.#docs.keys()) {
      if (excess-- <= 0) return;
      this.#docs.delete(id);
    }
  }

  #idOf(row: Partial<RowOf<C>>): string {
    const parts = row as Record<string, unknown>;
    return this.#collection.key.map((field) => parts[field]).join(" ");
  }
}
