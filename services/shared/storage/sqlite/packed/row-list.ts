import type { RowList, TakenRows } from "../../row-list.ts";
import type { Stored } from "../../values.ts";
import { type Cell, hexOf } from "../cell.ts";
import { type Entry, encodeCells, encodeToPack, rowsOf } from "../rows.ts";
import type { NextRow, PackedCells } from "./cells.ts";
import { LaterCells, type LaterFields, laterFieldsOf } from "./later-cells.ts";
import { OrderedRows } from "./ordered-rows.ts";
import { readCells } from "./reader.ts";
import { RowsToOrder } from "./unordered-rows.ts";
import type { WaitingPlace, WaitingRows } from "./waiting-rows.ts";

/** So many blocks of a list stay in memory: rows of some 2,000 events. */
const BLOCKS_IN_MEMORY = 8;

interface PackedRowListOptions<R, L extends keyof R> extends Omit<WaitingPlace, "blocksInMemory"> {
  /** A text field; null: rows come in the order of writing. */
  readonly orderedBy: keyof R | null;
  /** Fields that are told after rows were taken. */
  readonly later?: readonly L[];
  readonly blocksInMemory?: number;
}

/** Rows that wait as packed cells, many of them in a file. */
export class PackedRowList<R extends Readonly<Record<string, unknown>>, L extends keyof R = never>
  implements RowList<R, L>
{
  readonly #entry: Entry;
  readonly #place: WaitingPlace;
  readonly #later: LaterFields | undefined;
  readonly #rows: WaitingRows;
  readonly #cells: Stored[];
  #length = 0;

  constructor(
    entry: Entry,
    { orderedBy, later = [], blocksInMemory = BLOCKS_IN_MEMORY, ...where }: PackedRowListOptions<R, L>,
  ) {
    const { fields } = entry.declared;
    const place = { blocksInMemory, ...where };
    this.#entry = entry;
    this.#place = place;
    this.#later = later.length === 0 ? undefined : laterFieldsOf(entry, later as readonly string[]);
    this.#cells = new Array(fields.length).fill(null);
    const column = fields.findIndex(({ name }) => name === orderedBy);
    this.#rows =
      orderedBy === null ? new OrderedRows(entry, place) : new RowsToOrder(entry, { column, place });
  }

  get length(): number {
    return this.#length;
  }

  /** @throws TypeError for a value that its field cannot hold. */
  add(row: R): void {
    // Throws, and names the field and its text.
    if (!this.#rows.add(encodeToPack(this.#entry, row, this.#cells))) encodeCells(this.#entry, row, []);
    this.#length += 1;
  }

  take(): PackedRows<R, L> {
    const { parts, giveBack } = this.#rows.take();
    const { file, pool } = this.#place;
    const cells = { width: this.#cells.length, count: this.#length, parts, file: file?.descriptor };
    this.#length = 0;
    return new PackedRows(this.#entry, {
      cells,
      later: this.#later && new LaterCells(this.#later, pool),
      giveBack,
    });
  }
}

/** Rows to be put once: their memory is used again after that. */
export class PackedRows<R, L extends keyof R = never> implements TakenRows<R, L> {
  readonly #entry: Entry;
  readonly #cells: PackedCells;
  readonly #later: LaterCells | undefined;
  readonly #giveBack: () => void;
  #isWritten = false;

  constructor(
    entry: Entry,
    { cells, later, giveBack }: { cells: PackedCells; later: LaterCells | undefined; giveBack: () => void },
  ) {
    this.#entry = entry;
    this.#cells = cells;
    this.#later = later;
    this.#giveBack = giveBack;
  }

  get length(): number {
    return this.#cells.count;
  }

  tell(number: number, values: Pick<R, L>): void {
    this.#later?.tell(number, values);
  }

  /** @throws Error where they were written before. */
  get cells(): PackedCells {
    if (this.#isWritten) throw new Error("These rows were written: their memory is used again.");
    return this.#later === undefined ? this.#cells : { ...this.#cells, later: this.#later.take() };
  }

  /** To be called once they are read no more. */
  release(): void {
    if (this.#isWritten) return;
    this.#isWritten = true;
    this.#giveBack();
    this.#later?.giveBack();
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
