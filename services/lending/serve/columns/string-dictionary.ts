/**
 * Dictionary encoding of one text column: a text keeps its id from one head to the next, so that rows share texts, and
 * filters and sorts compare numbers only.
 */
export class StringDictionary {
  readonly #texts: string[] = [];
  readonly #idOf = new Map<string, number>();
  /** All texts at the last sort, and the rank of each by its id. */
  #sorted: readonly string[] = [];
  #ranks = new Float64Array(0);

  get size(): number {
    return this.#texts.length;
  }

  /** The text's id; adds a new text. */
  intern(text: string): number {
    let id = this.#idOf.get(text);
    if (id === undefined) {
      id = this.#texts.length;
      this.#texts.push(text);
      this.#idOf.set(text, id);
    }
    return id;
  }

  /** The text's id; undefined for an unknown text. */
  find(text: string): number | undefined {
    return this.#idOf.get(text);
  }

  textOf(id: number): string {
    return this.#texts[id] as string;
  }

  /** Ranks by id, in the order of the texts (UTF-16 code units). Sorts only new texts. */
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

/** Merges two sorted lists. */
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
