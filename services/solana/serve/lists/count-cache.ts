/** About 100 bytes each. */
const MAX_COUNTS = 100_000;

/**
 * Matching rows per segment for filters between two value classes, which a segment's own counts cannot answer. Rows of
 * segments never change, so each is counted once; the first deep page of a list of millions takes a second or two. Evicts
 * the least recently used list and filter.
 */
export class CountCache {
  readonly #maxCounts: number;
  /** By list and filter, then by the segment's first slot. */
  readonly #counts = new Map<string, Map<number, number>>();
  #size = 0;

  constructor(maxCounts = MAX_COUNTS) {
    this.#maxCounts = maxCounts;
  }

  get size(): number {
    return this.#size;
  }

  /** @param key.filter names list and filter */
  async get(
    { filter, firstSlot }: { filter: string; firstSlot: number },
    count: () => Promise<number>,
  ): Promise<number> {
    const known = this.#use(filter).get(firstSlot);
    if (known !== undefined) return known;
    const found = await count();
    const counts = this.#use(filter);
    if (!counts.has(firstSlot)) this.#size += 1;
    counts.set(firstSlot, found);
    this.#dropOldest();
    return found;
  }

  /** Counts of a filter, which becomes the most recently used. */
  #use(filter: string): Map<number, number> {
    const counts = this.#counts.get(filter) ?? new Map<number, number>();
    this.#counts.delete(filter);
    this.#counts.set(filter, counts);
    return counts;
  }

  #dropOldest(): void {
    for (const [filter, counts] of this.#counts) {
      if (this.#size <= this.#maxCounts) return;
      this.#size -= counts.size;
      this.#counts.delete(filter);
    }
  }
}
