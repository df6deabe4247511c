/** Changes above this number are merged into the base. */
const MOST_CHANGES = 1_000;

/** A map that never changes: `with` makes another one, which shares all but the changes. */
export class LayeredMap<K, V> {
  readonly #base: ReadonlyMap<K, V>;
  readonly #changes: ReadonlyMap<K, V>;

  constructor(base: ReadonlyMap<K, V>, changes: ReadonlyMap<K, V> = new Map()) {
    this.#base = base;
    this.#changes = changes;
  }

  has(key: K): boolean {
    return this.#changes.has(key) || this.#base.has(key);
  }

  get(key: K): V | undefined {
    return this.#changes.has(key) ? this.#changes.get(key) : this.#base.get(key);
  }

  with(changes: ReadonlyMap<K, V>): LayeredMap<K, V> {
    if (changes.size === 0) return this;
    const all = new Map([...this.#changes, ...changes]);
    if (all.size <= MOST_CHANGES) return new LayeredMap(this.#base, all);
    return new LayeredMap(new Map([...this.#base, ...all]));
  }
}
