/**
 * Rows that are values from a block on, to be looked up by name and block: `getLast` returns a row once, however many blocks
 * it is the last one of.
 */
export class RowsByBlock<R extends { readonly blockNumber: number }> {
  readonly #rows = new Map<string, R[]>();

  constructor(rows: readonly R[], nameOf: (row: R) => string) {
    for (const row of rows) {
      const name = nameOf(row);
      const named = this.#rows.get(name);
      if (named === undefined) this.#rows.set(name, [row]);
      else named.push(row);
    }
    for (const named of this.#rows.values()) named.sort((a, b) => a.blockNumber - b.blockNumber);
  }

  /** The last one up to a block. */
  upTo(name: string, block: number): R | undefined {
    const rows = this.#rows.get(name) ?? [];
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((rows[middle] as R).blockNumber <= block) low = middle + 1;
      else high = middle;
    }
    return rows[low - 1];
  }
}
