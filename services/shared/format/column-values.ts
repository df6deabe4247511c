import type { Cell, Column } from "../contract/column.ts";
import { parseType, type TypeNode } from "../contract/type.ts";
import { cellsOf, type Row } from "./rows.ts";

/** Binary formats: integers of 64 bits as bigint, times as Date or milliseconds, tuples as objects. */
export interface ColumnType {
  readonly node: TypeNode;
  readonly nullable: boolean;
}

/** The type of a column without its Nullable, which is a property of the column in Arrow and Parquet. */
export function columnTypeOf({ type, nullable, name }: Column): ColumnType {
  const node = parseType(type);
  if (node === undefined) throw new Error(`Column ${name} has the unreadable type ${type}`);
  return splitNullable(node, nullable === true);
}

export function splitNullable(node: TypeNode, isNullable = false): ColumnType {
  return node.kind === "nullable" ? { node: node.inner, nullable: true } : { node, nullable: isNullable };
}

/** Items of a tuple have no names in our types: `_1`, `_2`, …, which no query language needs quoted. */
export function tupleField(at: number): string {
  return `_${at + 1}`;
}

/** From a cell on the wire to a value as Arrow and Parquet have it. `toTime` gets Unix milliseconds. */
export function createConverter(node: TypeNode, toTime: (ms: number) => unknown): (cell: Cell) => unknown {
  const convert = (inner: TypeNode) => createConverter(inner, toTime);
  switch (node.kind) {
    case "nullable":
      return orNull(convert(node.inner));
    case "array": {
      const item = orNull(convert(node.inner));
      return (cell) => (cell as readonly Cell[]).map(item);
    }
    case "tuple": {
      const items = node.items.map((inner) => orNull(convert(inner)));
      return (cell) =>
        Object.fromEntries(
          items.map((item, at) => [tupleField(at), item((cell as readonly Cell[])[at] ?? null)]),
        );
    }
    default:
      return createScalarConverter(node.scalar, toTime);
  }
}

function createScalarConverter(scalar: string, toTime: (ms: number) => unknown): (cell: Cell) => unknown {
  switch (scalar) {
    case "UInt64":
    case "Int64":
      return (cell) => BigInt(cell as number | string);
    // Longer than any integer that all readers know.
    case "UInt128":
    case "UInt256":
      return String;
    case "DateTime":
      return (cell) => toTime(Date.parse(cell as string));
    default:
      return (cell) => cell;
  }
}

function orNull(convert: (cell: Cell) => unknown): (cell: Cell) => unknown {
  return (cell) => (cell === null ? null : convert(cell));
}

/** One array of cells for each column. */
export function transpose(rows: readonly Row[], width: number): Cell[][] {
  const columns: Cell[][] = Array.from({ length: width }, () => new Array(rows.length));
  for (let at = 0; at < rows.length; at++) {
    const cells = cellsOf(rows[at] as Row);
    for (let column = 0; column < width; column++) (columns[column] as Cell[])[at] = cells[column] as Cell;
  }
  return columns;
}

/** A column's cells as values. */
export function convertColumn(
  cells: readonly Cell[],
  { node, toTime }: { readonly node: TypeNode; readonly toTime: (ms: number) => unknown },
): unknown[] {
  return cells.map(orNull(createConverter(node, toTime)));
}
