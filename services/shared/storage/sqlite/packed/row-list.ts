import type { RowList, Rows } from "../../row-list.ts";
import type { Stored } from "../../values.ts";
import { type Cell, hexOf } from "../cell.ts";
import { type Entry, encodeCells, encodeToPack, rowsOf } from "../rows.ts";
import type { NextRow, PackedCells } from "./cells.ts";
import { readCells } from "./reader.ts";
import { DIGITS, digitOf, orderParts, UnorderedRows, type WaitingPlace } from "./unordered-rows.ts";

/** So many blocks of a list stay in memory: rows of some 2,000 events. */
const BLOCKS_IN_MEMORY = 8;

/**
 * Rows that wait as packed cells. Where they are many, and ordered by hex, those that come later wait in a file, by the first
 * digit: they are put in order a part at a time.
 */
export class PackedRowList<R extends Readonly<Record<string, unknown>>> implements RowList<R> {
  readonly #entry: Entry;
  readonly #orderedBy: keyof R;
  readonly #place: WaitingPlace;
  readonly #cells: Stored[];
  /** Of the first rows; the others are put apart. */
  readonly #mostBlocks: number;
  readonly #first: UnorderedRows;
  /** By digit. */
  #parts: UnorderedRows[] = [];
  #length = 0;

  /**
   * @param orderedBy a text field
   * @param blocksInMemory at most, where there is a file
   */
  constructor(
    entry: Entry,
    {
      orderedBy,
      blocksInMemory = BLOCKS_IN_MEMORY,
      ...place
    }: { orderedBy: keyof R; blocksInMemory?: number } & WaitingPlace,
  ) {
    const { fields } = entry.declared;
    this.#entry = entry;
    this.#orderedBy = orderedBy;
    this.#place = place;
    this.#cells = new Array(fields.length).fill(null);
    const isHex = fields.some(({ name, type }) => name === orderedBy && type === "hex");
    this.#mostBlocks = isHex && place.file !== undefined ? blocksInMemory : Number.POSITIVE_INFINITY;
    this.#first = new UnorderedRows(entry, { pool: place.pool });
  }

  get length(): number {
    return this.#length;
  }

  /** @throws TypeError for a value that its field cannot hold. */
  add(row: R): void {
    const orderedBy = row[this.#orderedBy] as string;
    const rows = this.#rowsOf(orderedBy);
    // Throws, and names the field and its text.
    if (!rows.add(encodeToPack(this.#entry, row, this.#cells), orderedBy)) encodeCells(this.#entry, row, []);
    this.#length += 1;
  }

  #rowsOf(hex: string): UnorderedRows {
    if (this.#first.blocks < this.#mostBlocks) return this.#first;
    if (this.#parts.length === 0)
      this.#parts = Array.from({ length: DIGITS }, () => new UnorderedRows(this.#entry, this.#place));
    return this.#parts[digitOf(hex)] as UnorderedRows;
  }

  take(): PackedRows<R> {
    const first = this.#first.take();
    const parts = this.#parts.map((rows) => rows.take());
    const cells: PackedCells = {
      width: this.#cells.length,
      count: this.#length,
      parts: orderParts(first, parts),
      file: this.#place.file?.descriptor,
    };
    this.#parts = [];
    this.#length = 0;
    const giveBack = () => {
      for (const { giveBack } of [first, ...parts]) giveBack();
    };
    return new PackedRows(this.#entry, { cells, giveBack });
  }
}

/** Rows to be put once: their memory is used again after that. */
export class PackedRows<R> implements Rows<R> {
  readonly #entry: Entry;
  readonly #cells: PackedCells;
  readonly #giveBack: () => void;
  #isWritten = false;

  constructor(entry: Entry, { cells, giveBack }: { cells: PackedCells; giveBack: () => void }) {
    this.#entry = entry;
    this.#cells = cells;
    this.#giveBack = giveBack;
  }

  get length(): number {
    return this.#cells.count;
  }

  /** @throws Error where they were written before. */
  get cells(): PackedCells {
    if (this.#isWritten) throw new Error("These rows were written: their memory is used again.");
    return this.#cells;
  }

  /** To be called once they are read no more. */
  release(): void {
    if (this.#isWritten) return;
    this.#isWritten = true;
    this.#giveBack();
  }

  /** As objects: for an engine that does not take cells. */
  *[Symbol.iterator](): Iterator<R> {
    const { fields } = this.#entry.declared;
    const read: NextRow = readCells(this.cells);
    for (let i = 0; i < this.length; i++) {
      const cells: Cell[] = [];
      read(cells, 0);
      const stored = cells.map((cell) => (cell instanceof Uint8Array ? hexOf(cell) : cell));
      yield rowsOf([stored], fields)[0] as R;
    }
  }
}
