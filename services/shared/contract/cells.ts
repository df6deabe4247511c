import type { Cell } from "./column.ts";
import type { TableShape } from "./endpoint.ts";

/** The value a handler returns for a column of type T: bigints for on-chain integers, plain cells elsewhere. */
export type CellInput<T extends string> = T extends "String" | "DateTime"
  ? string
  : T extends "Bool"
    ? boolean
    : T extends "UInt64" | "Int64"
      ? number | bigint
      : T extends "UInt128" | "UInt256"
        ? bigint
        : T extends "UInt8" | "UInt32" | "Int32" | "Float64"
          ? number
          : T extends `Nullable(${infer Inner})`
            ? CellInput<Inner> | null
            : T extends `Array(${infer Inner})`
              ? readonly CellOf<Inner>[]
              : Cell;

/** Items inside an array are cells already: toCells converts bigints only at the top of a row. */
type CellOf<T extends string> = T extends `Tuple(${string})`
  ? readonly Cell[]
  : T extends "UInt64" | "Int64"
    ? number | string
    : T extends "UInt128" | "UInt256"
      ? string
      : T extends `Nullable(${infer Inner})`
        ? CellOf<Inner> | null
        : CellInput<T>;

/** A row as an object: one property for each column of the endpoint, by name. */
export type TypedRow<E extends TableShape> = {
  readonly [C in E["columns"][number] as C["name"]]: C extends { readonly nullable: true }
    ? CellInput<C["type"]> | null
    : CellInput<C["type"]>;
};

interface RowLayout {
  readonly names: readonly string[];
  /** True where an integer is always a string (UInt128, UInt256). */
  readonly asText: readonly boolean[];
}

const layouts = new WeakMap<TableShape, RowLayout>();

function layoutOf(endpoint: TableShape): RowLayout {
  let layout = layouts.get(endpoint);
  if (layout === undefined) {
    layout = {
      names: endpoint.columns.map((column) => column.name),
      asText: endpoint.columns.map((column) => /UInt(128|256)/.test(column.type)),
    };
    layouts.set(endpoint, layout);
  }
  return layout;
}

/** The row's cells in column order. Throws a plain Error where a property is missing. */
export function toCells<E extends TableShape>(endpoint: E, row: TypedRow<E>): Cell[] {
  const { names, asText } = layoutOf(endpoint);
  const values = row as Readonly<Record<string, Cell | bigint | undefined>>;
  const cells: Cell[] = new Array(names.length);
  for (let at = 0; at < names.length; at++) {
    const value = values[names[at] as string];
    if (value === undefined)
      throw new Error(`Cannot make a row of ${endpoint.path}: ${names[at]} is missing.`);
    cells[at] = typeof value === "bigint" ? (asText[at] ? value.toString() : integerCell(value)) : value;
  }
  return cells;
}

/** A 64-bit integer as a cell: a JSON number while that is exact, a decimal string beyond. */
export function integerCell(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/** `2026-08-05T12:21:19+00:00`. Throws a plain Error outside the years 0 to 9999 or for a fraction of a second. */
export function formatDateTime(unixSeconds: number): string {
  if (!Number.isSafeInteger(unixSeconds) || unixSeconds < -62_167_219_200 || unixSeconds > 253_402_300_799) {
    throw new Error(
      `Cannot format ${unixSeconds} as a date: it is not a whole second of the years 0 to 9999.`,
    );
  }
  return `${new Date(unixSeconds * 1000).toISOString().slice(0, 19)}+00:00`;
}
