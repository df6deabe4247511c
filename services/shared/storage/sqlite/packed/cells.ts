import type { Cell } from "../cell.ts";

/** Cells of rows outside of the heap, where all threads read them. */
export interface PackedCells {
  /** Cells of a row. */
  readonly width: number;
  readonly count: number;
  /** In the order of writing. */
  readonly parts: readonly PackedPart[];
  /** The descriptor of the file that has the segments without a block. */
  readonly file?: number | undefined;
  /** Cells from a column on that were packed later; absent = there are none. */
  readonly later?: LaterPart | undefined;
}

/** In place of these a row has null, and they stay so, or in the first of them its row here. */
export interface LaterPart {
  readonly column: number;
  /** In memory, of one part with an order. */
  readonly cells: PackedCells;
}

export interface PackedPart {
  readonly count: number;
  readonly segments: readonly Segment[];
  /** The places of the rows in the order of writing (CellPacker.add); absent = as they were added. */
  readonly order?: Uint32Array;
}

/** Rows one after the other, each with where its texts begin and end (two words) and its cells; then the texts of all rows. */
export interface Segment {
  /** Or its place in the file. */
  readonly block: Uint8Array | number;
  readonly rows: number;
  /** Where texts begin in the block, and end. */
  readonly textStart: number;
  readonly textEnd: number;
  /** Texts that do not fit into the block. */
  readonly longText?: Uint8Array;
  /** Bytes of a character. */
  readonly characterBytes: 1 | 2;
}

/** Fills `into` with the cells of the next row, from a place on. */
export type NextRow = (into: Cell[], place: number) => void;

/** In an order, of a row that is not there. */
export const NO_PLACE = 2 ** 32 - 1;

/** The first byte of a cell, and what follows it. */
export const KINDS = {
  null: 0,
  /** An integer in a byte, in two, in four with a sign. */
  byte: 1,
  short: 2,
  word: 3,
  /** Any other number. */
  float: 4,
  /** The length of a text in a byte, or in four; its characters are beside the rows. */
  text: 5,
  longText: 6,
  /** Bytes after their length in a byte, or in four. */
  bytes: 7,
  longBytes: 8,
  /** The place in the block of a cell with the same bytes. */
  sameBytes: 9,
} as const;

/** By kind: what follows it, less the bytes of `bytes` and `longBytes`. */
export const SIZES: readonly number[] = [0, 1, 2, 4, 8, 1, 4, 1, 4, 4];

/** Of a row, before its cells. */
export const HEAD_BYTES = 8;

export function encodingOf(characterBytes: 1 | 2): "utf16le" | "latin1" {
  return characterBytes === 2 ? "utf16le" : "latin1";
}

export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
