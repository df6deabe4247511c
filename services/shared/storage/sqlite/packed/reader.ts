import { untoldError } from "../../row-list.ts";
import type { Cell } from "../cell.ts";
import { BLOCK_BITS, BLOCK_BYTES } from "./blocks.ts";
import {
  asBuffer,
  encodingOf,
  HEAD_BYTES,
  KINDS,
  type NextRow,
  NO_PLACE,
  type PackedCells,
  type PackedPart,
  type Segment,
  SIZES,
} from "./cells.ts";
import { leave, lend, noteRow } from "./read-memory.ts";
import { readBlock } from "./spill-file.ts";

// Constants of this module are known when it is optimised, those of another are looked up.
const { null: NULL, short: SHORT, word: WORD, float: FLOAT } = KINDS;
const { text: TEXT, longText: LONG_TEXT, bytes: BYTES, sameBytes: SAME_BYTES } = KINDS;

/** Reads rows from the first one on. The bytes of a row may change once the thread has read ROWS_A_CALL more. */
export function readCells(cells: PackedCells): NextRow {
  const reader = new CellReader(cells);
  const { later } = cells;
  if (later === undefined) return (into, place) => reader.next(into, place);
  const laterReader = new CellReader(later.cells);
  return (into, place) => {
    reader.next(into, place);
    const at = place + later.column;
    const row = into[at] as number | null;
    if (row !== null) laterReader.read(row, into, at);
  };
}

class CellReader {
  readonly #cells: PackedCells;
  #part: PackedPart = { count: 0, segments: [] };
  #parts = 0;
  /** By segment of the part. */
  #blocks: readonly Uint8Array[] = [];
  #views: readonly DataView[] = [];
  #texts: readonly Buffer[] = [];
  /** Of the part's blocks that are from the file. */
  #lent: Uint8Array[] = [];
  #segment = 0;
  /** Rows that were read of the segment, and where the next one begins. */
  #rows = 0;
  #at = 0;
  /** Of all rows of the part. */
  #read = 0;
  /** Of all parts. */
  #unread: number;
  #view: DataView = new DataView(new ArrayBuffer(0));
  #block: Uint8Array = new Uint8Array();
  /** Of the row, and how much of it was read. */
  #text = "";
  #character = 0;

  constructor(cells: PackedCells) {
    this.#cells = cells;
    this.#unread = cells.count;
  }

  #openPart(): void {
    const part = this.#cells.parts[this.#parts] as PackedPart;
    const { segments } = part;
    this.#leavePart();
    this.#blocks = segments.map(({ block, textEnd }) => {
      if (typeof block !== "number") return block;
      const memory = lend();
      this.#lent.push(memory);
      readBlock(this.#cells.file as number, { place: block, into: memory.subarray(0, textEnd) });
      return memory;
    });
    this.#views = this.#blocks.map(({ buffer, byteOffset }) => new DataView(buffer, byteOffset));
    this.#texts = segments.map(({ longText, textStart }, i) =>
      asBuffer(longText ?? (this.#blocks[i] as Uint8Array).subarray(textStart)),
    );
    this.#part = part;
    this.#parts += 1;
    this.#segment = 0;
    this.#rows = 0;
    this.#at = 0;
    this.#read = 0;
  }

  /** A row of the only part, of which none may be in a file. */
  read(row: number, into: Cell[], place: number): void {
    if (this.#parts === 0) this.#openPart();
    if ((this.#part.order?.[row] ?? NO_PLACE) === NO_PLACE) throw untoldError(row);
    this.#read = row;
    this.next(into, place);
  }

  next(into: Cell[], place: number): void {
    const end = place + this.#cells.width;
    let at = this.#openRow();
    const block = this.#block;
    const view = this.#view;
    for (let i = place; i < end; i++) {
      const kind = block[at] as number;
      at += 1;
      if (kind === FLOAT) {
        into[i] = view.getFloat64(at);
        at += 8;
      } else if (kind === NULL) into[i] = null;
      else if (kind < FLOAT) {
        into[i] = integerOf(view, at, kind);
        at += SIZES[kind] as number;
      } else if (kind <= LONG_TEXT) {
        into[i] = this.#cut(kind === TEXT ? (block[at] as number) : view.getUint32(at));
        at += SIZES[kind] as number;
      } else if (kind === SAME_BYTES) {
        into[i] = this.#bytes(view.getUint32(at));
        at += 4;
      } else {
        const bytes = this.#bytes(at - 1);
        into[i] = bytes;
        at += (SIZES[kind] as number) + bytes.length;
      }
    }
    this.#at = at;
  }

  #leavePart(): void {
    leave(this.#lent);
    this.#lent = [];
  }

  /** Returns where its first cell is. */
  #openRow(): number {
    while (this.#read === this.#part.count) this.#openPart();
    const { order, segments } = this.#part;
    let segment = this.#segment;
    let at = this.#at;
    if (order !== undefined) {
      const place = order[this.#read] as number;
      segment = place >>> BLOCK_BITS;
      at = place % BLOCK_BYTES;
    } else if (this.#rows === segments[segment]?.rows) {
      segment += 1;
      at = 0;
      this.#rows = 0;
    }
    this.#read += 1;
    this.#unread -= 1;
    if (this.#lent.length > 0) noteRow();
    if (this.#unread === 0) this.#leavePart();
    this.#rows += 1;
    this.#segment = segment;
    const view = this.#views[segment] as DataView;
    const { characterBytes } = segments[segment] as Segment;
    this.#view = view;
    this.#block = this.#blocks[segment] as Uint8Array;
    // One text, which the engine cuts without a copy.
    this.#text = (this.#texts[segment] as Buffer).toString(
      encodingOf(characterBytes),
      characterBytes * view.getUint32(at),
      characterBytes * view.getUint32(at + 4),
    );
    this.#character = 0;
    return at + HEAD_BYTES;
  }

  #cut(characters: number): string {
    const from = this.#character;
    this.#character += characters;
    return this.#text.slice(from, this.#character);
  }

  /** Of a cell of bytes. */
  #bytes(at: number): Uint8Array {
    const isShort = this.#block[at] === BYTES;
    const length = isShort ? (this.#block[at + 1] as number) : this.#view.getUint32(at + 1);
    const from = at + (isShort ? 2 : 5);
    return this.#block.subarray(from, from + length);
  }
}

function integerOf(view: DataView, at: number, kind: number): number {
  if (kind === WORD) return view.getInt32(at);
  return kind === SHORT ? view.getUint16(at) : view.getUint8(at);
}
