/** Rows that are to be put, in the order of writing. */
export interface Rows<R> extends Iterable<R> {
  readonly length: number;
}

/**
 * Collects rows of one collection from write to write. An engine may keep them outside of the heap: of many rows that wait
 * each value would be an object that the collector moves and marks again and again.
 */
export interface RowList<R> {
  readonly length: number;
  /** The row must not be changed any more. */
  add(row: R): void;
  /** The rows since the last time, in the order of the list's field; to be put once. */
  take(): Rows<R>;
}

/** Rows as objects. */
export class ObjectRowList<R> implements RowList<R> {
  readonly #orderedBy: keyof R;
  readonly #rows: R[] = [];

  constructor(orderedBy: keyof R) {
    this.#orderedBy = orderedBy;
  }

  get length(): number {
    return this.#rows.length;
  }

  add(row: R): void {
    this.#rows.push(row);
  }

  take(): readonly R[] {
    const field = this.#orderedBy;
    return this.#rows.splice(0).sort((a, b) => compareTexts(a[field] as string, b[field] as string));
  }
}

/** Places in the order of their texts; those of one text stay in order. */
export function orderOf(texts: readonly string[]): Uint32Array {
  const places = new Uint32Array(texts.length);
  for (let i = 0; i < places.length; i++) places[i] = i;
  return places.sort((a, b) => compareTexts(texts[a] as string, texts[b] as string) || a - b);
}

/** By code units, as the engines order texts of hex. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
