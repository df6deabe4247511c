import { StringDictionary } from "./string-dictionary.ts";

/** How rows of one kind become columns: texts dictionary-encoded, everything else as numbers. */
export interface RowLayout<R, T extends string = string, N extends string = string> {
  readonly texts: Readonly<Record<T, (row: R) => string>>;
  /** Null and non-finite numbers become NaN; true is 1. */
  readonly numbers: Readonly<Record<N, (row: R) => number | boolean | null>>;
}

/** Infers the column names of a layout as types. */
export function layoutOf<R>() {
  return <T extends string, N extends string>(layout: RowLayout<R, T, N>): RowLayout<R, T, N> => layout;
}

export interface TextColumn {
  /** By row: the text's id in the dictionary. */
  readonly ids: Uint32Array;
  readonly dictionary: StringDictionary;
}

/** Reused from one head to the next: the dictionaries of text columns, and the expected number of rows. */
export class ColumnDictionaries {
  readonly #dictionaries = new Map<string, StringDictionary>();
  #rowCount = MIN_ROWS;

  get rowCount(): number {
    return this.#rowCount;
  }

  /** Dictionaries with far more texts than there are rows are dropped. */
  setRowCount(count: number): void {
    this.#rowCount = Math.max(count, MIN_ROWS);
    for (const [name, dictionary] of this.#dictionaries) {
      if (dictionary.size > MAX_TEXTS_PER_ROW * this.#rowCount) this.#dictionaries.delete(name);
    }
  }

  dictionaryOf(name: string): StringDictionary {
    let dictionary = this.#dictionaries.get(name);
    if (dictionary === undefined) {
      dictionary = new StringDictionary();
      this.#dictionaries.set(name, dictionary);
    }
    return dictionary;
  }
}

const MIN_ROWS = 256;
const MAX_TEXTS_PER_ROW = 4;

/** Columns by name. */
export interface ReadColumns<T extends string = string, N extends string = string> {
  readonly count: number;
  text(name: T): TextColumn;
  number(name: N): Float64Array;
}

interface Texts<R> {
  readonly textOf: (row: R) => string;
  readonly dictionary: StringDictionary;
  ids: Uint32Array;
}

interface Numbers<R> {
  readonly numberOf: (row: R) => number | boolean | null;
  values: Float64Array;
}

/**
 * Rows of one kind as columns. As objects, 20,000 of them would be promoted to the garbage collector's old space with
 * every head; here each row object is short-lived, and the values that a request scans are contiguous.
 */
export class RowColumns<R, T extends string = string, N extends string = string>
  implements ReadColumns<T, N>
{
  readonly #texts = new Map<string, Texts<R>>();
  readonly #numbers = new Map<string, Numbers<R>>();
  readonly #memory: ColumnDictionaries;
  #capacity: number;
  #count = 0;

  constructor(layout: RowLayout<R, T, N>, memory: ColumnDictionaries) {
    this.#memory = memory;
    this.#capacity = memory.rowCount + (memory.rowCount >> 3);
    for (const [name, textOf] of Object.entries<Texts<R>["textOf"]>(layout.texts)) {
      const dictionary = memory.dictionaryOf(name);
      this.#texts.set(name, { textOf, dictionary, ids: new Uint32Array(this.#capacity) });
    }
    for (const [name, numberOf] of Object.entries<Numbers<R>["numberOf"]>(layout.numbers)) {
      this.#numbers.set(name, { numberOf, values: new Float64Array(this.#capacity) });
    }
  }

  get count(): number {
    return this.#count;
  }

  add(row: R): void {
    if (this.#count === this.#capacity) this.#grow();
    const at = this.#count++;
    for (const { ids, dictionary, textOf } of this.#texts.values()) ids[at] = dictionary.intern(textOf(row));
    for (const column of this.#numbers.values()) {
      const value = column.numberOf(row);
      const number = value === null ? Number.NaN : Number(value);
      column.values[at] = Number.isFinite(number) ? number : Number.NaN;
    }
  }

  #grow(): void {
    this.#capacity *= 2;
    for (const column of this.#texts.values()) {
      const { ids } = column;
      column.ids = new Uint32Array(this.#capacity);
      column.ids.set(ids);
    }
    for (const column of this.#numbers.values()) {
      const { values } = column;
      column.values = new Float64Array(this.#capacity);
      column.values.set(values);
    }
  }

  /** Call it after the last row. */
  close(): void {
    this.#memory.setRowCount(this.#count);
  }

  text(name: T): TextColumn {
    const { ids, dictionary } = this.#texts.get(name) as Texts<R>;
    return { ids: ids.subarray(0, this.#count), dictionary };
  }

  number(name: N): Float64Array {
    return (this.#numbers.get(name) as Numbers<R>).values.subarray(0, this.#count);
  }
}

/** The rows at some positions. */
export function pick<T extends string, N extends string>(
  columns: ReadColumns<T, N>,
  positions: Uint32Array,
): ReadColumns<T, N> {
  return {
    count: positions.length,
    text(name) {
      const { ids, dictionary } = columns.text(name);
      return { ids: positions.map((at) => ids[at] as number), dictionary };
    },
    number(name) {
      const values = columns.number(name);
      return Float64Array.from(positions, (at) => values[at] as number);
    },
  };
}

/** Positions of the rows with this text. */
export function positionsOf({ ids, dictionary }: TextColumn, text: string): Uint32Array {
  const id = dictionary.find(text);
  const positions: number[] = [];
  for (let at = id === undefined ? -1 : ids.indexOf(id); at !== -1; at = ids.indexOf(id as number, at + 1)) {
    positions.push(at);
  }
  return Uint32Array.from(positions);
}

/** Maps a text column to numbers; computes each distinct text once. */
export function mapTexts({ ids, dictionary }: TextColumn, numberOf: (text: string) => number): Float64Array {
  const known = new Float64Array(dictionary.size).fill(Number.NaN);
  const isKnown = new Uint8Array(dictionary.size);
  const values = new Float64Array(ids.length);
  for (let at = 0; at < ids.length; at++) {
    const id = ids[at] as number;
    if (isKnown[id] === 0) {
      known[id] = numberOf(dictionary.textOf(id));
      isKnown[id] = 1;
    }
    values[at] = known[id] as number;
  }
  return values;
}

/** The distinct texts of a column. */
export function* distinctTexts({ ids, dictionary }: TextColumn): Generator<string> {
  const isSeen = new Uint8Array(dictionary.size);
  for (const id of ids) {
    if (isSeen[id] === 1) continue;
    isSeen[id] = 1;
    yield dictionary.textOf(id);
  }
}

/** The column with each text replaced, e.g. addresses by names. */
export function replaceTexts(column: TextColumn, replace: (text: string) => string): TextColumn {
  const dictionary = new StringDictionary();
  const ids = mapTexts(column, (text) => dictionary.intern(replace(text)));
  return { ids: Uint32Array.from(ids), dictionary };
}

/** Looks up a row's value by a text that is unique among the rows; NaN for an absent text. */
export function lookupByText(
  { ids, dictionary }: TextColumn,
  values: Float64Array,
): (text: string) => number {
  return (text) => {
    const id = dictionary.find(text);
    const at = id === undefined ? -1 : ids.indexOf(id);
    return at === -1 ? Number.NaN : (values[at] as number);
  };
}
