import type { Cell } from "../../../shared/contract/column.ts";
import type { Endpoint, RowText } from "../../../shared/contract/endpoint.ts";
import type { OrderTerm } from "../../../shared/contract/order.ts";
import { toRowText } from "../../../shared/contract/render-table.ts";
import { TimeSlices } from "../../../shared/process/time-slices.ts";
import { type SortTerm, sortPositions } from "./order-positions.ts";
import { cellOf, type TableColumn } from "./table-columns.ts";

export interface TableQuery {
  readonly order: readonly OrderTerm[];
  readonly offset: number;
  readonly limit: number;
  /** Only rows with these cells; undefined = any. */
  readonly equals?: Readonly<Record<string, string | boolean | undefined>>;
  /** Only rows with a number of at least `value` in this column; null never passes. */
  readonly minimum?: { readonly column: string; readonly value: number };
}

/** Cached orders per table: 80 KB each for 20,000 rows. */
const MAX_CACHED_ORDERS = 64;

/**
 * An immutable in-memory table in columns: the rows of one list at one block and one set of prices. What one request
 * computes serves the others: numbers of a column, whole orders, texts of rows.
 */
export class ColumnTable {
  readonly count: number;
  readonly #columns: Readonly<Record<string, TableColumn>>;
  readonly #defaultOrder: readonly OrderTerm[];
  readonly #orders = new Map<string, Uint32Array>();
  readonly #texts = new Map<Endpoint, (RowText | undefined)[]>();

  /** `defaultOrder` ends in columns that together are unique; it completes every other order. */
  constructor({
    count,
    columns,
    defaultOrder,
  }: {
    count: number;
    columns: Readonly<Record<string, TableColumn>>;
    defaultOrder: readonly OrderTerm[];
  }) {
    this.count = count;
    this.#columns = columns;
    this.#defaultOrder = defaultOrder;
  }

  /** A column's numbers by position; NaN for null. */
  numbers(column: string): Float64Array {
    return this.#keysOf(column);
  }

  cell(column: string, at: number): string | number | boolean | null {
    return cellOf(this.#column(column), at);
  }

  /** Positions of a page's rows. Throws a plain Error for an unknown column. */
  find(query: TableQuery): Uint32Array {
    const { offset, limit } = query;
    return this.findAll(query).subarray(offset, offset + limit);
  }

  /** Positions of all rows that match, in order. */
  findAll({ order, equals = {}, minimum }: Omit<TableQuery, "offset" | "limit">): Uint32Array {
    const conditions = this.#conditions(equals);
    if (conditions === undefined) return new Uint32Array(0);
    if (minimum !== undefined) {
      const values = this.#keysOf(minimum.column);
      // False for NaN.
      conditions.push((at) => (values[at] as number) >= minimum.value);
    }
    return conditions.length === 0 ? this.#wholeOrder(order) : this.#sorted(this.#matches(conditions), order);
  }

  /** Undefined where no row can pass. */
  #conditions(equals: NonNullable<TableQuery["equals"]>): ((at: number) => boolean)[] | undefined {
    const conditions: ((at: number) => boolean)[] = [];
    for (const [name, wanted] of Object.entries(equals)) {
      if (wanted === undefined) continue;
      const column = this.#column(name);
      if (typeof wanted === "boolean") {
        const keys = this.#keysOf(name);
        const key = Number(wanted);
        conditions.push((at) => keys[at] === key);
      } else if (column.kind === "text") {
        const { ids, dictionary } = column;
        const id = dictionary.find(wanted);
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
      if (this.#orders.size > MAX_CACHED_ORDERS)
        this.#orders.delete(this.#orders.keys().next().value as string);
    }
    return positions;
  }

  /** Sorts ascending positions in place. */
  #sorted(positions: Uint32Array, order: readonly OrderTerm[]): Uint32Array {
    const terms = [...order, ...this.#defaultOrder].flatMap(({ field, direction }): SortTerm[] =>
      this.#column(field).kind === "constant"
        ? []
        : [{ keys: this.#keysOf(field), descending: direction === "desc" }],
    );
    sortPositions(positions, terms);
    return positions;
  }

  /** The rows at these positions as texts for an endpoint. Large pages are rendered in time slices. */
  async render(endpoint: Endpoint, positions: Uint32Array): Promise<RowText[]> {
    let texts = this.#texts.get(endpoint);
    if (texts === undefined) {
      texts = new Array(this.count);
      this.#texts.set(endpoint, texts);
    }
    const columns = endpoint.columns.map(({ name }) => this.#column(name));
    const slices = new TimeSlices();
    const page: RowText[] = [];
    for (const at of positions) {
      const known = texts[at] ?? textOf(endpoint, columns, at);
      texts[at] = known;
      page.push(known);
      if (page.length % 16 === 0 && slices.due()) await slices.pause();
    }
    return page;
  }

  /** Numbers in the order of the column's cells; NaN for null. */
  #keysOf(name: string): Float64Array {
    const column = this.#column(name);
    if (column.kind === "number" || column.kind === "flag") return column.values();
    const keys = new Float64Array(this.count);
    if (column.kind === "constant") return keys;
    const ranks = column.dictionary.ranks();
    const { ids } = column;
    for (let at = 0; at < keys.length; at++) keys[at] = ranks[ids[at] as number] as number;
    return keys;
  }

  #column(name: string): TableColumn {
    const column = this.#columns[name];
    if (column === undefined) throw new Error(`Cannot read ${name}: the table has no such column.`);
    return column;
  }
}

function textOf(endpoint: Endpoint, columns: readonly TableColumn[], at: number): RowText {
  const cells: Cell[] = new Array(columns.length);
  for (let i = 0; i < columns.length; i++) cells[i] = cellOf(columns[i] as TableColumn, at);
  return toRowText(endpoint, cells);
}
