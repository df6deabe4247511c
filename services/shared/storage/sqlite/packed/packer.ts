import { type Cell, lengthOf, writeBytes } from "../cell.ts";
import { BLOCK_BYTES, type BlockPool } from "./blocks.ts";
import { asBuffer, encodingOf, HEAD_BYTES, KINDS, type PackedPart, type Segment } from "./cells.ts";
import type { SpillFile } from "./spill-file.ts";

// Constants of this module are known when it is optimised, those of another are looked up.
const { null: NULL, byte: BYTE, short: SHORT, word: WORD, float: FLOAT } = KINDS;
const { text: TEXT, bytes: BYTES, sameBytes: SAME_BYTES } = KINDS;

/** Of a cell, less its bytes and characters. */
const MOST_CELL_BYTES = 9;
const SHORT_LENGTH = 256;
const BEYOND_LATIN1 = /[\u0100-\uffff]/;
/** In place of where something is: it does not fit, or is a text that is no hex in a column of hex. */
const NO_ROOM = -1;
export const NOT_HEX = -2;

export interface PackerOptions {
  readonly pool: BlockPool;
  /** By column, whether its texts are hex. */
  readonly isHex?: readonly boolean[];
  /** Where full blocks go; absent = they stay in memory. */
  readonly file?: SpillFile | undefined;
  /** The first ones stay in any case. */
  readonly blocksInMemory?: number;
}

/** A packer's blocks in a file. */
interface Spilled {
  readonly file: SpillFile;
  readonly places: Set<number>;
}

/** An indexer that failed is dropped with what waits: nobody gives its blocks back. */
const dropped = new FinalizationRegistry<Spilled>(({ file, places }) => {
  for (const place of places) file.giveBack(place);
});

/** Packs rows of one width. Memory is used again once it is given back. */
export class CellPacker {
  readonly #width: number;
  readonly #pool: BlockPool;
  readonly #isHex: readonly boolean[];
  readonly #spilled: Spilled | undefined;
  readonly #blocksInMemory: number;
  #full: Segment[] = [];
  #count = 0;
  #block: Uint8Array | undefined;
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** Of the open block: its rows, where the last one ends, and texts. */
  #rows = 0;
  #end = 0;
  #texts: string[] = [];
  #characters = 0;
  /** By column of hex: the last one of the open block, and where it is. */
  #hex: (string | undefined)[] = [];
  #hexAt: number[] = [];

  constructor(width: number, { pool, isHex = [], file, blocksInMemory = 0 }: PackerOptions) {
    this.#blocksInMemory = blocksInMemory;
    this.#width = width;
    this.#pool = pool;
    this.#isHex = isHex;
    this.#spilled = file && { file, places: new Set() };
    if (this.#spilled !== undefined) dropped.register(this, this.#spilled);
  }

  get count(): number {
    return this.#count;
  }

  /** Blocks that are full. */
  get blocks(): number {
    return this.#full.length;
  }

  /** Returns the row's place, for `order`; NOT_HEX, and nothing is added, where a text of a column of hex is not canonical. */
  add(cells: readonly Cell[]): number {
    if (this.#block === undefined) this.#open(BLOCK_BYTES);
    let start = this.#tryAdd(cells);
    if (start === NO_ROOM) {
      this.#seal();
      this.#open(mostBytesOf(cells));
      start = this.#tryAdd(cells);
    }
    const place = start < 0 ? start : this.#full.length * BLOCK_BYTES + start;
    // Places in a longer block would be those of the next one.
    if (this.#view.byteLength > BLOCK_BYTES) this.#seal();
    return place;
  }

  /** Returns where the row begins in its block, or why it does not. */
  #tryAdd(cells: readonly Cell[]): number {
    const { length } = this.#block as Uint8Array;
    const start = this.#end;
    const characters = this.#characters;
    const texts = this.#texts.length;
    let at = start + HEAD_BYTES;
    for (let i = 0; i < this.#width && at >= 0; i++)
      at = at + MOST_CELL_BYTES > length ? NO_ROOM : this.#put(cells[i] as Cell, i, at);
    if (at + this.#characters > length) at = NO_ROOM;
    if (at < 0) {
      this.#texts.length = texts;
      this.#characters = characters;
      // They may be of this row.
      this.#hex = [];
      return at;
    }
    this.#view.setUint32(start, characters);
    this.#view.setUint32(start + 4, this.#characters);
    this.#end = at;
    this.#rows += 1;
    this.#count += 1;
    return start;
  }

  /** Returns where the next cell begins, or why this one does not. */
  #put(cell: Cell, column: number, at: number): number {
    if (cell === null) {
      this.#view.setUint8(at, NULL);
      return at + 1;
    }
    if (typeof cell === "object") {
      const from = this.#openBytes(at, cell.length);
      if (from === NO_ROOM) return NO_ROOM;
      (this.#block as Uint8Array).set(cell, from);
      return from + cell.length;
    }
    if (typeof cell !== "string") return putNumber(this.#view, at, Number(cell));
    if (this.#isHex[column]) return this.#putHex(cell, column, at);
    this.#texts.push(cell);
    this.#characters += cell.length;
    return putLength(this.#view, at, { kind: TEXT, length: cell.length });
  }

  #putHex(hex: string, column: number, at: number): number {
    if (hex === this.#hex[column]) {
      this.#view.setUint8(at, SAME_BYTES);
      this.#view.setUint32(at + 1, this.#hexAt[column] as number);
      return at + 5;
    }
    const length = lengthOf(hex);
    const from = this.#openBytes(at, length);
    if (from === NO_ROOM) return NO_ROOM;
    if (!writeBytes(hex, this.#block as Uint8Array, from)) return NOT_HEX;
    this.#hex[column] = hex;
    this.#hexAt[column] = at;
    return from + length;
  }

  #openBytes(at: number, length: number): number {
    const from = putLength(this.#view, at, { kind: BYTES, length });
    return from + length > this.#view.byteLength ? NO_ROOM : from;
  }

  /** The rows since the last time, as they were added. */
  take(): PackedPart {
    this.#seal();
    const part = { count: this.#count, segments: this.#full };
    this.#full = [];
    this.#count = 0;
    return part;
  }

  /** To be called once taken rows are read no more. */
  giveBack({ segments }: PackedPart): void {
    for (const { block } of segments) {
      if (typeof block !== "number") this.#pool.giveBack(block);
      else if (this.#spilled?.places.delete(block)) this.#spilled.file.giveBack(block);
    }
  }

  /** Puts a block into the file, and lets another one have its memory; returns its place there, undefined where it stays. */
  #spill(block: Uint8Array, { textEnd }: Pick<Segment, "textEnd">): number | undefined {
    const { file, places } = this.#spilled ?? {};
    if (textEnd > BLOCK_BYTES || this.#full.length < this.#blocksInMemory) return undefined;
    const place = file?.write(block, textEnd);
    if (place === undefined) return undefined;
    places?.add(place);
    this.#pool.giveBack(block);
    return place;
  }

  #open(leastBytes: number): void {
    const block = this.#pool.take(leastBytes);
    this.#block = block;
    this.#view = new DataView(block.buffer);
  }

  #seal(): void {
    const block = this.#block;
    if (block === undefined) return;
    if (this.#rows === 0) this.#pool.giveBack(block);
    else {
      const rows = this.#rows;
      const text = writeText(this.#texts.join(""), block, this.#end);
      this.#full.push({ block: this.#spill(block, text) ?? block, rows, ...text });
    }
    this.#block = undefined;
    this.#rows = 0;
    this.#end = 0;
    this.#texts = [];
    this.#characters = 0;
    this.#hex = [];
  }
}

/** What a row of these cells takes at most, with its texts. */
function mostBytesOf(cells: readonly Cell[]): number {
  return cells.reduce<number>(
    (sum, cell) =>
      sum +
      MOST_CELL_BYTES +
      (typeof cell === "object" || typeof cell === "string" ? (cell?.length ?? 0) : 0),
    HEAD_BYTES + MOST_CELL_BYTES,
  );
}

function putNumber(view: DataView, at: number, number: number): number {
  const isWord = (number | 0) === number && !Object.is(number, -0);
  if (!isWord) {
    view.setUint8(at, FLOAT);
    view.setFloat64(at + 1, number);
    return at + 9;
  }
  if (number >= 0 && number < 0x100) {
    view.setUint8(at, BYTE);
    view.setUint8(at + 1, number);
    return at + 2;
  }
  if (number >= 0 && number < 0x10000) {
    view.setUint8(at, SHORT);
    view.setUint16(at + 1, number);
    return at + 3;
  }
  view.setUint8(at, WORD);
  view.setInt32(at + 1, number);
  return at + 5;
}

/** Of a text or of bytes; returns what follows. */
function putLength(
  view: DataView,
  at: number,
  { kind, length }: { kind: typeof TEXT | typeof BYTES; length: number },
): number {
  if (length < SHORT_LENGTH) {
    view.setUint8(at, kind);
    view.setUint8(at + 1, length);
    return at + 2;
  }
  view.setUint8(at, kind + 1);
  view.setUint32(at + 1, length);
  return at + 5;
}

function writeText(text: string, block: Uint8Array, textStart: number): Omit<Segment, "block" | "rows"> {
  const characterBytes = BEYOND_LATIN1.test(text) ? 2 : 1;
  const length = characterBytes * text.length;
  const textEnd = textStart + length;
  const fits = textEnd <= block.length;
  const target = fits ? block.subarray(textStart, textEnd) : new Uint8Array(new SharedArrayBuffer(length));
  asBuffer(target).write(text, encodingOf(characterBytes));
  return { textStart, textEnd, characterBytes, ...(!fits && { longText: target }) };
}
