/**
 * A cache of rows by pool and key that keeps those used lately, in two generations as RecentMap. Nested maps: building
 * composite keys would cost more than the look-up.
 */
export class RecentRows<K, V> {
  readonly #most: number;
  #young = new Map<string, Map<K, V>>();
  #old = new Map<string, Map<K, V>>();
  #count = 0;

  /** @param most rows kept, but for those of one batch */
  constructor(most: number) {
    this.#most = most;
  }

  get(pool: string, key: K): V | undefined {
    const young = this.#young.get(pool)?.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(pool)?.get(key);
    if (old !== undefined) this.set(pool, key, old);
    return old;
  }

  set(pool: string, key: K, row: V): void {
    let rows = this.#young.get(pool);
    if (rows === undefined) {
      rows = new Map();
      this.#young.set(pool, rows);
    }
    const before = rows.size;
    rows.set(key, row);
    this.#count += rows.size - before;
  }

  /** Forgets all rows of a pool. */
  forget(pool: string): void {
    this.#count -= this.#young.get(pool)?.size ?? 0;
    this.#young.delete(pool);
    this.#old.delete(pool);
  }

  /** Makes room; between two batches, when every row is written. */
  age(): void {
    if (this.#count < this.#most / 2) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#count = 0;
  }
}
