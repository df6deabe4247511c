import type { Stored } from "../../values.ts";

/** Cells of rows in memory that threads share, outside of the heap; in parts of SEGMENT_ROWS rows. */
export interface PackedCells {
  /** Cells of a row. */
  readonly width: number;
  readonly count: number;
  readonly segments: readonly Segment[];
  /** The numbers of the rows in the order of writing; absent = as they were added. */
  readonly order?: Uint32Array;
}

export interface Segment {
  /** By cell: its number, or the length of its text. */
  readonly numbers: Float64Array;
  readonly kinds: Uint8Array;
  /** By row: where its texts begin, in characters; after the last row, where they end. */
  readonly starts: Uint32Array;
  /** All texts, one after the other. */
  text: Uint8Array;
  /** Bytes of a character. */
  characterBytes: 1 | 2;
}

/** Fills `into` with the cells of the next row, from a place on. */
export type NextRow = (into: Stored[], place: number) => void;

export const SEGMENT_ROWS = 1_024;
const NULL = 0;
const NUMBER = 1;
const TEXT = 2;
const BEYOND_LATIN1 = /[\u0100-\uffff]/;
/** Room for texts that are longer than those before. */
const TEXT_ROOM = 1.25;

/** Packs rows of one width. Memory is used again once it is given back. */
export class CellPacker {
  readonly #width: number;
  readonly #free: Segment[] = [];
  #full: Segment[] = [];
  #open: Segment | undefined;
  /** Rows and texts of the open segment. */
  #rows = 0;
  #texts: string[] = [];
  #characters = 0;

  constructor(width: number) {
    this.#width = width;
  }

  get count(): number {
    return SEGMENT_ROWS * this.#full.length + this.#rows;
  }

  add(cells: readonly Stored[]): void {
    this.#open ??= this.#free.pop() ?? emptySegment(this.#width);
    const { numbers, kinds, starts } = this.#open;
    let place = this.#width * this.#rows;
    for (let i = 0; i < this.#width; i++, place++) {
      const cell = cells[i] as Stored;
      if (cell === null) kinds[place] = NULL;
      else if (typeof cell === "string") {
        kinds[place] = TEXT;
        numbers[place] = cell.length;
        this.#texts.push(cell);
        this.#characters += cell.length;
      } else {
        kinds[place] = NUMBER;
        numbers[place] = Number(cell);
      }
    }
    this.#rows += 1;
    starts[this.#rows] = this.#characters;
    if (this.#rows === SEGMENT_ROWS) this.#seal(this.#open);
  }

  /** The rows since the last time. */
  take(order?: Uint32Array): PackedCells {
    const { count } = this;
    if (this.#open !== undefined) this.#seal(this.#open);
    const segments = this.#full;
    this.#full = [];
    return { width: this.#width, count, segments, ...(order && { order }) };
  }

  /** To be called once taken rows are read no more. */
  giveBack({ segments }: PackedCells): void {
    this.#free.push(...segments);
  }

  #seal(segment: Segment): void {
    const text = this.#texts.join("");
    const characterBytes = BEYOND_LATIN1.test(text) ? 2 : 1;
    const bytes = characterBytes * text.length;
    if (segment.text.length < bytes)
      segment.text = new Uint8Array(new SharedArrayBuffer(Math.ceil(TEXT_ROOM * bytes)));
    segment.characterBytes = characterBytes;
    asBuffer(segment.text).write(text, encodingOf(segment));
    this.#full.push(segment);
    this.#open = undefined;
    this.#rows = 0;
    this.#texts = [];
    this.#characters = 0;
  }
}

/** Reads rows from the first one on. */
export function readCells({ width, segments, order }: PackedCells): NextRow {
  const texts = segments.map(({ text }) => asBuffer(text));
  let next = 0;
  return (into, place) => {
    const row = order === undefined ? next : (order[next] as number);
    next += 1;
    const at = Math.floor(row / SEGMENT_ROWS);
    const within = row % SEGMENT_ROWS;
    const segment = segments[at] as Segment;
    const { numbers, kinds, starts, characterBytes } = segment;
    // One text, which the engine cuts without a copy.
    const text = (texts[at] as Buffer).toString(
      encodingOf(segment),
      characterBytes * (starts[within] as number),
      characterBytes * (starts[within + 1] as number),
    );
    let character = 0;
    let cell = width * within;
    for (let i = place; i < place + width; i++, cell++) {
      const number = numbers[cell] as number;
      if (kinds[cell] === NUMBER) into[i] = number;
      else if (kinds[cell] === NULL) into[i] = null;
      else {
        into[i] = text.slice(character, character + number);
        character += number;
      }
    }
  };
}

function emptySegment(width: number): Segment {
  const cells = width * SEGMENT_ROWS;
  // Widest elements first: each view begins at a multiple of their size.
  const bytes = new SharedArrayBuffer(9 * cells + 4 * (SEGMENT_ROWS + 1));
  return {
    numbers: new Float64Array(bytes, 0, cells),
    starts: new Uint32Array(bytes, 8 * cells, SEGMENT_ROWS + 1),
    kinds: new Uint8Array(bytes, 8 * cells + 4 * (SEGMENT_ROWS + 1), cells),
    text: new Uint8Array(new SharedArrayBuffer(0)),
    characterBytes: 1,
  };
}

function encodingOf({ characterBytes }: Segment): "utf16le" | "latin1" {
  return characterBytes === 2 ? "utf16le" : "latin1";
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
