/**
 * Numbers the texts of one column, as they come: the same text has the same number from one head to the next, so that
 * rows need no text of their own, and comparing, filtering and sorting them need no text at all.
 */
export class TextBook {
  readonly #texts: string[] = [];
  readonly #idOf = new Map<string, number>();
  /** All texts known when they were sorted last, and the rank of each by its id. */
  #sorted: readonly string[] = [];
  #ranks = new Float64Array(0);

  get size(): number {
    return this.#texts.length;
  }

  /** The text's number, a new one where it has none. */
  number(text: string): number {
    let id = this.#idOf.get(text);
    if (id === undefined) {
      id = this.#texts.length;
      this.#texts.push(text);
      this.#idOf.set(text, id);
    }
    return id;
  }

  /** Undefined for a text that never came. */
  find(text: string): number | undefined {
    return this.#idOf.get(text);
  }

  textOf(id: number): string {
    return this.#texts[id] as string;
  }

  /** By number: what compares as the texts do (by UTF-16 code units). Sorts only what is new. */
  ranks(): Float64Array {
    const known = this.#sorted.length;
    if (known < this.#texts.length) {
      this.#sorted = merge(this.#sorted, this.#texts.slice(known).sort());
      this.#ranks = new Float64Array(this.#sorted.length);
      for (const [rank, text] of this.#sorted.entries()) this.#ranks[this.#idOf.get(text) as number] = rank;
    }
    return this.#ranks;
  }
}

/** Two sorted lists as one. */
function merge(a: readonly string[], b: readonly string[]): string[] {
  const merged: string[] = [];
  let at = 0;
  for (const text of b) {
    while (at < a.length && (a[at] as string) < text) merged.push(a[at++] as string);
    merged.push(text);
  }
  for (; at < a.length; at++) merged.push(a[at] as string);
  return merged;
}
