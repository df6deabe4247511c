import { TextBook } from "./text-book.ts";

/** How rows of one kind are kept: their texts by number, everything else as numbers, by names of their own. */
export interface RowLayout<R, T extends string = string, N extends string = string> {
  readonly texts: Readonly<Record<T, (row: R) => string>>;
  /** Null becomes NaN, and so does what is no finite number; true is 1. */
  readonly numbers: Readonly<Record<N, (row: R) => number | boolean | null>>;
}

/** Keeps the names of a layout as types. */
export function layoutOf<R>() {
  return <T extends string, N extends string>(layout: RowLayout<R, T, N>): RowLayout<R, T, N> => layout;
}

export interface TextColumn {
  /** By row: the text's number in the book. */
  readonly ids: Uint32Array;
  readonly book: TextBook;
}

/** What is kept of columns from one head to the next: the books of their texts, and how many rows there were. */
export class ColumnMemory {
  readonly #books = new Map<string, TextBook>();
  #count = FEW;

  get count(): number {
    return this.#count;
  }

  /** To be told how many rows there are now: books that hold far more texts than that are begun anew. */
  saw(count: number): void {
    this.#count = Math.max(count, FEW);
    for (const [name, book] of this.#books) {
      if (book.size > KEEP_TIMES * this.#count) this.#books.delete(name);
    }
  }

  bookOf(name: string): TextBook {
    let book = this.#books.get(name);
    if (book === undefined) {
      book = new TextBook();
      this.#books.set(name, book);
    }
    return book;
  }
}

const FEW = 256;
const KEEP_TIMES = 4;

/** Columns by name. */
export interface ReadColumns<T extends string = string, N extends string = string> {
  readonly count: number;
  text(name: T): TextColumn;
  number(name: N): Float64Array;
}

interface Texts<R> {
  readonly of: (row: R) => string;
  readonly book: TextBook;
  ids: Uint32Array;
}

interface Numbers<R> {
  readonly of: (row: R) => number | boolean | null;
  values: Float64Array;
}

/**
 * Rows of one kind as columns. Kept as objects, 20,000 of them would outlive the garbage collector's young space with
 * every head; as columns they are gone as soon as they are taken in, and what a request looks at lies side by side.
 */
export class RowColumns<R, T extends string = string, N extends string = string>
  implements ReadColumns<T, N>
{
  readonly #texts = new Map<string, Texts<R>>();
  readonly #numbers = new Map<string, Numbers<R>>();
  readonly #memory: ColumnMemory;
  #capacity: number;
  #count = 0;

  constructor(layout: RowLayout<R, T, N>, memory: ColumnMemory) {
    this.#memory = memory;
    this.#capacity = memory.count + (memory.count >> 3);
    for (const [name, of] of Object.entries<Texts<R>["of"]>(layout.texts)) {
      this.#texts.set(name, { of, book: memory.bookOf(name), ids: new Uint32Array(this.#capacity) });
    }
    for (const [name, of] of Object.entries<Numbers<R>["of"]>(layout.numbers)) {
      this.#numbers.set(name, { of, values: new Float64Array(this.#capacity) });
    }
  }

  get count(): number {
    return this.#count;
  }

  add(row: R): void {
    if (this.#count === this.#capacity) this.#grow();
    const at = this.#count++;
    for (const column of this.#texts.values()) column.ids[at] = column.book.number(column.of(row));
    for (const column of this.#numbers.values()) {
      const value = column.of(row);
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

  /** To be called after the last row. */
  close(): void {
    this.#memory.saw(this.#count);
  }

  text(name: T): TextColumn {
    const { ids, book } = this.#texts.get(name) as Texts<R>;
    return { ids: ids.subarray(0, this.#count), book };
  }

  number(name: N): Float64Array {
    return (this.#numbers.get(name) as Numbers<R>).values.subarray(0, this.#count);
  }
}

/** Some of the rows: the n-th is that at the n-th position. */
export function pick<T extends string, N extends string>(
  columns: ReadColumns<T, N>,
  positions: Uint32Array,
): ReadColumns<T, N> {
  return {
    count: positions.length,
    text(name) {
      const { ids, book } = columns.text(name);
      return { ids: positions.map((at) => ids[at] as number), book };
    },
    number(name) {
      const values = columns.number(name);
      return Float64Array.from(positions, (at) => values[at] as number);
    },
  };
}

/** Positions of the rows with this text. */
export function positionsOf({ ids, book }: TextColumn, text: string): Uint32Array {
  const id = book.find(text);
  const found: number[] = [];
  for (let at = id === undefined ? -1 : ids.indexOf(id); at !== -1; at = ids.indexOf(id as number, at + 1)) {
    found.push(at);
  }
  return Uint32Array.from(found);
}

/** A column with a number for each distinct text, worked out once a text. */
export function byText({ ids, book }: TextColumn, numberOf: (text: string) => number): Float64Array {
  const known = new Float64Array(book.size).fill(Number.NaN);
  const isKnown = new Uint8Array(book.size);
  const values = new Float64Array(ids.length);
  for (let at = 0; at < ids.length; at++) {
    const id = ids[at] as number;
    if (isKnown[id] === 0) {
      known[id] = numberOf(book.textOf(id));
      isKnown[id] = 1;
    }
    values[at] = known[id] as number;
  }
  return values;
}

/** Every text of a column, once. */
export function* textsIn({ ids, book }: TextColumn): Generator<string> {
  const isSeen = new Uint8Array(book.size);
  for (const id of ids) {
    if (isSeen[id] === 1) continue;
    isSeen[id] = 1;
    yield book.textOf(id);
  }
}

/** The same column under other texts: of names in place of addresses, say. */
export function renamed(column: TextColumn, nameOf: (text: string) => string): TextColumn {
  const book = new TextBook();
  const ids = byText(column, (text) => book.number(nameOf(text)));
  return { ids: Uint32Array.from(ids), book };
}

/** What rows have in a column, by a text that is unique among them; NaN for a text that none of them has. */
export function numberByText({ ids, book }: TextColumn, values: Float64Array): (text: string) => number {
  return (text) => {
    const id = book.find(text);
    const at = id === undefined ? -1 : ids.indexOf(id);
    return at === -1 ? Number.NaN : (values[at] as number);
  };
}
