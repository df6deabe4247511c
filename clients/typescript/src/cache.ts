/** Tables by address, each with its ETag. Bounded by their rows: what was longest not asked for goes first. */
export class TableCache<T extends { readonly rows: readonly unknown[] }> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #maxRows: number;
  #rows = 0;

  constructor(maxRows: number) {
    this.#maxRows = maxRows;
  }

  get(url: string): Entry<T> | undefined {
    const entry = this.#entries.get(url);
    if (entry === undefined) return undefined;
    // A Map lists its keys in the order in which they were set.
    this.#entries.delete(url);
    this.#entries.set(url, entry);
    return entry;
  }

  set(url: string, entry: Entry<T>): void {
    this.#remove(url);
    this.#entries.set(url, entry);
    this.#rows += weightOf(entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#rows <= this.#maxRows) return;
      this.#remove(oldest);
    }
  }

  #remove(url: string): void {
    const entry = this.#entries.get(url);
    if (entry === undefined) return;
    this.#entries.delete(url);
    this.#rows -= weightOf(entry);
  }
}

interface Entry<T> {
  readonly etag: string;
  readonly table: T;
}

/** An empty table takes room too. */
function weightOf({ table }: Entry<{ readonly rows: readonly unknown[] }>): number {
  return table.rows.length + 1;
}
