/**
 * Pools by the second from which on time alone may change them: a block looks at those that are due, not at all. A pool may
 * be here more than once for a second.
 * @typeParam T a pool
 */
export class PoolTimers<T> {
  readonly #due = new Map<number, T[]>();

  add(second: number, pool: T): void {
    const pools = this.#due.get(second);
    if (pools === undefined) this.#due.set(second, [pool]);
    else pools.push(pool);
  }

  /** Removes the pools that are due at this second and adds them to `into`. */
  take(time: number, into: T[]): void {
    for (const second of this.#due.keys()) {
      if (second > time) continue;
      for (const pool of this.#due.get(second) ?? []) into.push(pool);
      this.#due.delete(second);
    }
  }

  /** Removes the pools of all seconds after this one, and returns them. */
  takeAfter(time: number): Set<T> {
    const pools = new Set<T>();
    for (const [second, due] of this.#due) {
      if (second <= time) continue;
      for (const pool of due) pools.add(pool);
      this.#due.delete(second);
    }
    return pools;
  }

  /** Forgets the pools of all seconds up to this one. */
  drop(time: number): void {
    for (const second of this.#due.keys()) if (second <= time) this.#due.delete(second);
  }
}
