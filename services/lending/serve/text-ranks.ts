/** Texts that no row has any more are kept up to this many times those that are there. */
const KEEP_TIMES = 4;
const KEEP_AT_LEAST = 1_000;

/**
 * Gives texts numbers that compare as the texts do (by UTF-16 code units). It remembers what it has seen: the names in
 * a table hardly change from one head to the next, and comparing texts is what makes sorting by them slow.
 */
export class TextRanks {
  #sorted: readonly string[] = [];
  #rankOf: ReadonlyMap<string, number> = new Map();

  /** The ranks of `count` texts. */
  ranksOf(count: number, textAt: (at: number) => string): Float64Array {
    if (this.#sorted.length > KEEP_TIMES * count + KEEP_AT_LEAST) this.#know([]);
    const unknown = new Set<string>();
    for (let at = 0; at < count; at++) {
      const text = textAt(at);
      if (!this.#rankOf.has(text)) unknown.add(text);
    }
    if (unknown.size > 0) this.#know(merge(this.#sorted, [...unknown].sort()));
    const ranks = new Float64Array(count);
    for (let at = 0; at < count; at++) ranks[at] = this.#rankOf.get(textAt(at)) as number;
    return ranks;
  }

  #know(sorted: readonly string[]): void {
    this.#sorted = sorted;
    this.#rankOf = new Map(sorted.map((text, rank) => [text, rank]));
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
