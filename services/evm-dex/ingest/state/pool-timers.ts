/** Pools by the second from which on time alone may change them: a block looks at those that are due, not at all. */
export class PoolTimers {
  readonly #due = new Map<number, Set<string>>();

  add(second: number, pool: string): void {
    const pools = this.#due.get(second);
    if (pools === undefined) this.#due.set(second, new Set([pool]));
    else pools.add(pool);
  }

  /** Removes the pools that are due at this second and adds them to `into`. */
  take(time: number, into: Set<string>): void {
    for (const [second, due] of this.#due) {
      if (second > time) continue;
      for (const pool of due) into.add(pool);
      this.#due.delete(second);
    }
  }

  /** Removes the pools of all seconds after this one, and returns them. */
  takeAfter(time: number): Set<string> {
    const pools = new Set<string>();
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
