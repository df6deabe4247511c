import { orderOf, type RowList, type Rows } from "../../row-list.ts";
import type { Stored } from "../../values.ts";
import { type Cell, hexOf } from "../cell.ts";
import { type Entry, encodeCells, encodeToPack, rowsOf } from "../rows.ts";
import type { BlockPool } from "./blocks.ts";
import type { NextRow, PackedCells } from "./cells.ts";
import { CellPacker, NOT_HEX } from "./packer.ts";
import { readCells } from "./reader.ts";

/** Rows that wait as packed cells. */
export class PackedRowList<R extends Readonly<Record<string, unknown>>> implements RowList<R> {
  readonly #entry: Entry;
  readonly #orderedBy: keyof R;
  readonly #packer: CellPacker;
  readonly #cells: Stored[];
  #order: string[] = [];
  #places: number[] = [];

  /** @param orderedBy a text field */
  constructor(entry: Entry, { orderedBy, pool }: { orderedBy: keyof R; pool: BlockPool }) {
    this.#entry = entry;
    this.#orderedBy = orderedBy;
    const { length } = entry.declared.fields;
    this.#packer = new CellPacker(length, { pool, isHex: entry.isHex });
    this.#cells = new Array(length).fill(null);
  }

  get length(): number {
    return this.#packer.count;
  }

  /** @throws TypeError for a value that its field cannot hold. */
  add(row: R): void {
    const place = this.#packer.add(encodeToPack(this.#entry, row, this.#cells));
    // Throws, and names the field and its text.
    if (place === NOT_HEX) encodeCells(this.#entry, row, []);
    this.#places.push(place);
    this.#order.push(row[this.#orderedBy] as string);
  }

  take(): PackedRows<R> {
    const places = this.#places;
    const order = orderOf(this.#order).map((row) => places[row] as number);
    this.#order = [];
    this.#places = [];
    const cells = this.#packer.take(order);
    return new PackedRows(this.#entry, { cells, giveBack: () => this.#packer.giveBack(cells) });
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
