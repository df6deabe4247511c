/** Rows that are to be put, in the order of writing. */
export interface Rows<R> extends Iterable<R> {
  readonly length: number;
}

/**
 * Rows that were taken from a list. Of one with later fields, L, each row has a number in the first of them, or null there
 * where all are as they stay; what they hold is told before the rows are put.
 */
export interface TakenRows<R, L extends keyof R = never> extends Rows<R> {
  /** In any order, each number once. One that no row has is ignored. */
  tell(number: number, values: Pick<R, L>): void;
}

/**
 * Collects rows of one collection from write to write. An engine may keep them outside of the heap: of many rows that wait
 * each value would be an object that the collector moves and marks again and again.
 */
export interface RowList<R, L extends keyof R = never> {
  readonly length: number;
  /** The row must not be changed any more. */
  add(row: R): void;
  /** The rows since the last time, in the order of the list's field, if it has one; to be put once. */
  take(): TakenRows<R, L>;
}

/** Rows as objects. */
export class ObjectRowList<R, L extends keyof R = never> implements RowList<R, L> {
  readonly #orderedBy: keyof R | null;
  readonly #later: readonly L[];
  readonly #rows: R[] = [];

  constructor(orderedBy: keyof R | null, later: readonly L[] = []) {
    this.#orderedBy = orderedBy;
    this.#later = later;
  }

  get length(): number {
    return this.#rows.length;
  }

  add(row: R): void {
    this.#rows.push(row);
  }

  take(): TakenRows<R, L> {
    const field = this.#orderedBy;
    const rows = this.#rows.splice(0);
    if (field !== null) rows.sort((a, b) => compareTexts(a[field] as string, b[field] as string));
    return new ObjectRows(rows, this.#later[0]);
  }
}

class ObjectRows<R, L extends keyof R> implements TakenRows<R, L> {
  readonly #rows: readonly R[];
  /** Those that are not told yet. */
  readonly #open = new Map<number, R>();

  constructor(rows: readonly R[], firstLater: L | undefined) {
    this.#rows = rows;
    if (firstLater === undefined) return;
    for (const row of rows) {
      const number = row[firstLater] as number | null;
      if (number !== null) this.#open.set(number, row);
    }
  }

  get length(): number {
    return this.#rows.length;
  }

  tell(number: number, values: Pick<R, L>): void {
    const row = this.#open.get(number);
    if (row === undefined) return;
    Object.assign(row as object, values);
    this.#open.delete(number);
  }

  [Symbol.iterator](): Iterator<R> {
    const [untold] = this.#open.keys();
    if (untold !== undefined) throw untoldError(untold);
    return this.#rows[Symbol.iterator]();
  }
}

/** Of rows that are put before all is told. */
export function untoldError(number: number): Error {
  return new Error(`Row ${number} waits for its later fields.`);
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
