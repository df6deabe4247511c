import type { Cell } from "../../shared/contract/column.ts";
import type { Endpoint, RowText } from "../../shared/contract/endpoint.ts";
import type { OrderTerm } from "../../shared/contract/order.ts";
import { toRowText } from "../../shared/contract/render-table.ts";
import { type SortTerm, sortPositions } from "./order-positions.ts";
import { cellOf, type SheetColumn } from "./sheet-columns.ts";
import { Slices } from "./slices.ts";

export interface SheetQuery {
  readonly order: readonly OrderTerm[];
  readonly offset: number;
  readonly limit: number;
  /** Only rows that have these cells; undefined lets all pass. */
  readonly only?: Readonly<Record<string, string | true | undefined>>;
  /** Only rows whose number in this column is known and no less. */
  readonly atLeast?: { readonly column: string; readonly value: number };
}

/** Orders that are kept of a sheet: 80 KB each over 20,000 rows. */
const KEPT_ORDERS = 64;

/**
 * The rows of one list as they stand on one block and one set of prices. Nothing in it changes, so what was worked out
 * for one request serves the others: numbers of a column, whole orders, texts of rows.
 */
export class Sheet {
  readonly count: number;
  readonly #columns: Readonly<Record<string, SheetColumn>>;
  readonly #defaultOrder: readonly OrderTerm[];
  readonly #orders = new Map<string, Uint32Array>();
  readonly #texts = new Map<Endpoint, (RowText | undefined)[]>();

  /** @param of.defaultOrder ends in columns that together are unique: every other order ends in this one */
  constructor(of: {
    count: number;
    columns: Readonly<Record<string, SheetColumn>>;
    defaultOrder: readonly OrderTerm[];
  }) {
    this.count = of.count;
    this.#columns = of.columns;
    this.#defaultOrder = of.defaultOrder;
  }

  /** A column's numbers by position; NaN for null. */
  numbers(column: string): Float64Array {
    return this.#keysOf(column);
  }

  cell(column: string, at: number): string | number | boolean | null {
    return cellOf(this.#column(column), at);
  }

  /** Positions of a page's rows. Throws a plain Error for a column that is not there. */
  find({ order, offset, limit, only = {}, atLeast }: SheetQuery): Uint32Array {
    const conditions = this.#conditions(only);
    if (conditions === undefined) return new Uint32Array(0);
    if (atLeast !== undefined) {
      const values = this.#keysOf(atLeast.column);
      // NaN is not at least anything.
      conditions.push((at) => (values[at] as number) >= atLeast.value);
    }
    const found =
      conditions.length === 0 ? this.#wholeOrder(order) : this.#sorted(this.#matches(conditions), order);
    return found.subarray(offset, offset + limit);
  }

  /** Undefined where no row can pass. */
  #conditions(only: NonNullable<SheetQuery["only"]>): ((at: number) => boolean)[] | undefined {
    const conditions: ((at: number) => boolean)[] = [];
    for (const [name, wanted] of Object.entries(only)) {
      if (wanted === undefined) continue;
      const column = this.#column(name);
      if (wanted === true) {
        const keys = this.#keysOf(name);
        conditions.push((at) => keys[at] === 1);
      } else if (column.kind === "text") {
        const { ids, book } = column;
        const id = book.find(wanted);
        if (id === undefined) return undefined;
        conditions.push((at) => ids[at] === id);
      } else if (column.kind !== "constant" || column.value !== wanted) return undefined;
    }
    return conditions;
  }

  #matches(conditions: readonly ((at: number) => boolean)[]): Uint32Array {
    const found = new Uint32Array(this.count);
    let count = 0;
    for (let at = 0; at < this.count; at++) {
      let passes = true;
      for (let i = 0; passes && i < conditions.length; i++)
        passes = (conditions[i] as (at: number) => boolean)(at);
      if (passes) found[count++] = at;
    }
    return found.subarray(0, count);
  }

  #wholeOrder(order: readonly OrderTerm[]): Uint32Array {
    const name = order.map(({ field, direction }) => `${field} ${direction}`).join();
    let positions = this.#orders.get(name);
    if (positions === undefined) {
      positions = this.#sorted(
        Uint32Array.from({ length: this.count }, (_, at) => at),
        order,
      );
      this.#orders.set(name, positions);
      if (this.#orders.size > KEPT_ORDERS) this.#orders.delete(this.#orders.keys().next().value as string);
    }
    return positions;
  }

  /** Sorts positions, which stand in their own order, in place. */
  #sorted(positions: Uint32Array, order: readonly OrderTerm[]): Uint32Array {
    const terms = [...order, ...this.#defaultOrder].flatMap(({ field, direction }): SortTerm[] =>
      this.#column(field).kind === "constant"
        ? []
        : [{ keys: this.#keysOf(field), descending: direction === "desc" }],
    );
    sortPositions(positions, terms);
    return positions;
  }

  /** The rows at these positions as an endpoint shows them. Large pages are made in slices. */
  async render(endpoint: Endpoint, positions: Uint32Array): Promise<RowText[]> {
    let texts = this.#texts.get(endpoint);
    if (texts === undefined) {
      texts = new Array(this.count);
      this.#texts.set(endpoint, texts);
    }
    const columns = endpoint.columns.map(({ name }) => this.#column(name));
    const slices = new Slices();
    const page: RowText[] = [];
    for (const at of positions) {
      const known = texts[at] ?? textOf(endpoint, columns, at);
      texts[at] = known;
      page.push(known);
      if (page.length % 16 === 0 && slices.due()) await slices.pause();
    }
    return page;
  }

  /** Numbers that compare as the cells of a column do; NaN for null. */
  #keysOf(name: string): Float64Array {
    const column = this.#column(name);
    if (column.kind === "number" || column.kind === "flag") return column.values();
    const keys = new Float64Array(this.count);
    if (column.kind === "constant") return keys;
    const ranks = column.book.ranks();
    const { ids } = column;
    for (let at = 0; at < keys.length; at++) keys[at] = ranks[ids[at] as number] as number;
    return keys;
  }

  #column(name: string): SheetColumn {
    const column = this.#columns[name];
    if (column === undefined) throw new Error(`Cannot tell ${name}: the list has no such column.`);
    return column;
  }
}

function textOf(endpoint: Endpoint, columns: readonly SheetColumn[], at: number): RowText {
  const cells: Cell[] = new Array(columns.length);
  for (let i = 0; i < columns.length; i++) cells[i] = cellOf(columns[i] as SheetColumn, at);
  return toRowText(endpoint, cells);
}
