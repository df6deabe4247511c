import { type Cell, lengthOf, writeBytes } from "../cell.ts";
import {
  asBuffer,
  emptySegment,
  encodingOf,
  openBytes,
  readBytes,
  SEGMENT_ROWS,
  type Segment,
  writeText,
} from "./segment.ts";

/** Cells of rows in memory that threads share, outside of the heap; in parts of SEGMENT_ROWS rows. */
export interface PackedCells {
  /** Cells of a row. */
  readonly width: number;
  readonly count: number;
  readonly segments: readonly Segment[];
  /** The numbers of the rows in the order of writing; absent = as they were added. */
  readonly order?: Uint32Array;
}

/** Fills `into` with the cells of the next row, from a place on. */
export type NextRow = (into: Cell[], place: number) => void;

const NULL = 0;
const NUMBER = 1;
const TEXT = 2;
const BYTES = 3;
const BEYOND_LATIN1 = /[\u0100-\uffff]/;

/** Packs rows of one width. Memory is used again once it is given back. */
export class CellPacker {
  readonly #width: number;
  /** By column, whether its texts are hex. */
  readonly #isHex: readonly boolean[];
  readonly #free: Segment[] = [];
  #full: Segment[] = [];
  #open: Segment | undefined;
  /** Rows and texts of the open segment. */
  #rows = 0;
  #texts: string[] = [];
  #characters = 0;
  #bytes = 0;
  /** By column of hex: the last one of the open segment, and where it is. */
  #hex: (string | undefined)[] = [];
  #hexAt: number[] = [];

  constructor(width: number, isHex: readonly boolean[] = []) {
    this.#width = width;
    this.#isHex = isHex;
  }

  get count(): number {
    return SEGMENT_ROWS * this.#full.length + this.#rows;
  }

  add(cells: readonly Cell[]): void {
    this.#open ??= this.#free.pop() ?? emptySegment(this.#width);
    const { numbers, kinds, starts } = this.#open;
    let place = this.#width * this.#rows;
    for (let i = 0; i < this.#width; i++, place++) {
      const cell = cells[i] as Cell;
      if (cell === null) kinds[place] = NULL;
      else if (typeof cell === "object") {
        kinds[place] = BYTES;
        numbers[place] = this.#bytes;
        const from = openBytes(this.#open, this.#bytes, cell.length);
        this.#open.bytes.set(cell, from);
        this.#bytes = from + cell.length;
      } else if (typeof cell === "string" && this.#isHex[i]) {
        kinds[place] = BYTES;
        numbers[place] =
          cell === this.#hex[i] ? (this.#hexAt[i] as number) : this.#addHex(this.#open, cell, i);
      } else if (typeof cell === "string") {
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

  /** Returns where its bytes are. */
  #addHex(segment: Segment, hex: string, column: number): number {
    const at = this.#bytes;
    const length = lengthOf(hex);
    const from = openBytes(segment, at, length);
    writeBytes(hex, segment.bytes, from);
    this.#bytes = from + length;
    this.#hex[column] = hex;
    this.#hexAt[column] = at;
    return at;
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
    writeText(segment, text, BEYOND_LATIN1.test(text) ? 2 : 1);
    this.#full.push(segment);
    this.#open = undefined;
    this.#rows = 0;
    this.#texts = [];
    this.#characters = 0;
    this.#bytes = 0;
    this.#hex = [];
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
      else if (kinds[cell] === BYTES) into[i] = readBytes(segment, number);
      else {
        into[i] = text.slice(character, character + number);
        character += number;
      }
    }
  };
}
