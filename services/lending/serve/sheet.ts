import type { CellInput } from "../../shared/contract/cells.ts";
import type { Cell } from "../../shared/contract/column.ts";
import type { Endpoint, RowText } from "../../shared/contract/endpoint.ts";
import type { OrderTerm } from "../../shared/contract/order.ts";
import { toRowText } from "../../shared/table.ts";
import { orderPositions, type SortTerm } from "./order-positions.ts";
import { Slices } from "./slices.ts";
import { TextRanks } from "./text-ranks.ts";

/** A cell of a row; `usd` is the price of the row's token, NaN while none is known. */
export type CellOf<R, T = string | number | boolean | null> = (row: R, usd: number) => T;

/** How the cells of rows come about, by column. */
export type Cells<R> = Readonly<Record<string, CellOf<R>>>;

/** Cells for every column of an endpoint, each of its column's type. */
export type CellsFor<E extends Endpoint, R> = {
  readonly [C in E["columns"][number] as C["name"]]: CellOf<R, CellInput<C["type"]>>;
};

/** What one table's texts were found to be, kept from one head to the next. */
export class RankBook {
  readonly #ranks = new Map<string, TextRanks>();

  of(column: string): TextRanks {
    let ranks = this.#ranks.get(column);
    if (ranks === undefined) {
      ranks = new TextRanks();
      this.#ranks.set(column, ranks);
    }
    return ranks;
  }
}

export interface SheetOptions<R> {
  readonly rows: readonly R[];
  /** Price of each row's token, NaN where none is known. */
  readonly usd: Float64Array;
  readonly cells: Cells<R>;
  readonly ranks: RankBook;
  /** Ends in columns that together are unique: every other order ends in this one. */
  readonly defaultOrder: readonly OrderTerm[];
}

export interface SheetQuery<R> {
  readonly order: readonly OrderTerm[];
  readonly offset: number;
  readonly limit: number;
  /** Which rows are wanted; all where absent. */
  readonly where?: (row: R) => boolean;
  /** Only rows whose number in this column is known and no less. */
  readonly atLeast?: { readonly column: string; readonly value: number };
}

/** Orders that are kept of a sheet: some 80 KB each over 20,000 rows. */
const KEPT_ORDERS = 64;

/**
 * The rows of one list as they stand on one block and one set of prices, in their default order. Nothing in it changes,
 * so what was worked out for one request serves the others: keys of a column, positions in an order, texts of rows.
 */
export class Sheet<R> {
  readonly rows: readonly R[];
  readonly #usd: Float64Array;
  readonly #cells: Cells<R>;
  readonly #ranks: RankBook;
  readonly #keys = new Map<string, Float64Array>();
  readonly #orders = new Map<string, Uint32Array>();
  readonly #texts = new Map<Endpoint, (RowText | undefined)[]>();

  constructor(options: SheetOptions<R>) {
    this.#cells = options.cells;
    this.#ranks = options.ranks;
    this.rows = options.rows;
    this.#usd = options.usd;
    const order = orderPositions(options.rows.length, this.#termsOf(options.defaultOrder));
    this.rows = Array.from(order, (at) => options.rows[at] as R);
    this.#usd = Float64Array.from(order, (at) => options.usd[at] as number);
    this.#keys.clear();
  }

  /** One cell of the row at a position. */
  cell(column: string, at: number): string | number | boolean | null {
    return this.#cellOf(column)(this.rows[at] as R, this.#usd[at] as number);
  }

  /** Positions of a page's rows. Throws a plain Error for a column without cells. */
  find(query: SheetQuery<R>): number[] {
    const { offset, limit, where, atLeast } = query;
    const order = query.order.length === 0 ? undefined : this.#orderOf(query.order);
    const least = atLeast && this.#keysOf(atLeast.column);
    const found: number[] = [];
    let passed = where === undefined && least === undefined ? offset : 0;
    for (let place = passed; place < this.rows.length && found.length < limit; place++) {
      const at = order === undefined ? place : (order[place] as number);
      // An unknown number is not at least anything.
      if (least !== undefined && !((least[at] as number) >= (atLeast?.value as number))) continue;
      if (where !== undefined && !where(this.rows[at] as R)) continue;
      if (passed++ >= offset) found.push(at);
    }
    return found;
  }

  /** The rows at these positions as an endpoint shows them. Large pages are made in slices. */
  async render(endpoint: Endpoint, positions: readonly number[]): Promise<RowText[]> {
    let texts = this.#texts.get(endpoint);
    if (texts === undefined) {
      texts = new Array(this.rows.length);
      this.#texts.set(endpoint, texts);
    }
    const cells = endpoint.columns.map(({ name }) => this.#cellOf(name));
    const slices = new Slices();
    const page: RowText[] = [];
    for (const at of positions) {
      const text = texts[at] ?? this.#textOf(endpoint, { cells, at });
      texts[at] = text;
      page.push(text);
      if (page.length % 16 === 0 && slices.due()) await slices.pause();
    }
    return page;
  }

  #textOf(endpoint: Endpoint, { cells, at }: { cells: readonly CellOf<R>[]; at: number }): RowText {
    const row = this.rows[at] as R;
    const usd = this.#usd[at] as number;
    const values: Cell[] = new Array(cells.length);
    for (let column = 0; column < cells.length; column++) {
      values[column] = (cells[column] as CellOf<R>)(row, usd);
    }
    return toRowText(endpoint, values);
  }

  #orderOf(order: readonly OrderTerm[]): Uint32Array {
    const name = order.map(({ field, direction }) => `${field} ${direction}`).join();
    let positions = this.#orders.get(name);
    if (positions === undefined) {
      // Ties stay as they are, which is the default order.
      positions = orderPositions(this.rows.length, this.#termsOf(order));
      this.#orders.set(name, positions);
      if (this.#orders.size > KEPT_ORDERS) this.#orders.delete(this.#orders.keys().next().value as string);
    }
    return positions;
  }

  #termsOf(order: readonly OrderTerm[]): SortTerm[] {
    return order.map(({ field, direction }) => ({
      keys: this.#keysOf(field),
      descending: direction === "desc",
    }));
  }

  /** Numbers that compare as the cells of a column do; NaN for null. */
  #keysOf(column: string): Float64Array {
    let keys = this.#keys.get(column);
    if (keys === undefined) {
      keys = this.#makeKeys(column);
      this.#keys.set(column, keys);
    }
    return keys;
  }

  #makeKeys(column: string): Float64Array {
    const { rows } = this;
    const usd = this.#usd;
    const cellOf = this.#cellOf(column);
    const count = rows.length;
    if (count > 0 && typeof cellOf(rows[0] as R, usd[0] as number) === "string") {
      return this.#ranks
        .of(column)
        .ranksOf(count, (at) => cellOf(rows[at] as R, usd[at] as number) as string);
    }
    const keys = new Float64Array(count);
    for (let at = 0; at < count; at++) {
      const cell = cellOf(rows[at] as R, usd[at] as number);
      keys[at] = cell === null ? Number.NaN : Number(cell);
    }
    return keys;
  }

  #cellOf(column: string): CellOf<R> {
    const cellOf = this.#cells[column];
    if (cellOf === undefined) throw new Error(`Cannot tell ${column}: the table has no such cells.`);
    return cellOf;
  }
}
