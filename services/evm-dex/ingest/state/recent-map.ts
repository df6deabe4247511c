/**
 * A cache of values that keeps those used lately. Two generations: a value that is used moves to the young one; once that is
 * half of the limit it becomes the old one, and what the old one still held is dropped. Nothing is dropped but in `age`.
 */
export class RecentMap<K, V> {
  readonly #most: number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();

  /** @param most values kept, but for those of one batch */
  constructor(most: number) {
    this.#most = most;
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.#young.set(key, old);
    return old;
  }

  set(key: K, value: V): void {
    this.#young.set(key, value);
  }

  forget(key: K): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /**
   * Makes room; between two batches, when every value is written.
   * @param isNeeded of values that are not, and stay. Where it is given, no more than the limit do beside them: those used first
   * since the last time, which are those used most
   */
  age(isNeeded?: (value: V) => boolean): void {
    if (this.#young.size < this.#most / 2) return;
    this.#old = isNeeded === undefined ? this.#young : this.#within(isNeeded);
    this.#young = new Map();
  }

  #within(isNeeded: (value: V) => boolean): Map<K, V> {
    if (this.#young.size <= this.#most) return this.#young;
    const kept = new Map<K, V>();
    let others = 0;
    for (const [key, value] of this.#young)
      if (isNeeded(value) || others++ < this.#most) kept.set(key, value);
    return kept;
  }
}
