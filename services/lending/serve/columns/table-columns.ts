import type { ColumnType } from "../../../shared/contract/column.ts";
import type { Endpoint } from "../../../shared/contract/endpoint.ts";
import type { TextColumn } from "./row-columns.ts";

/** The same cell in every row. */
export interface ConstantCells {
  readonly kind: "constant";
  readonly value: string | number;
}

export interface TextCells extends TextColumn {
  readonly kind: "text";
}

/** NaN = null. Computed at the first use. */
export interface NumberCells {
  readonly kind: "number";
  readonly values: () => Float64Array;
}

/** 1 = true. */
export interface FlagCells {
  readonly kind: "flag";
  readonly values: () => Float64Array;
}

/** One column of a table. */
export type TableColumn = ConstantCells | TextCells | NumberCells | FlagCells;

type CellsOf<T extends ColumnType> = T extends "Bool"
  ? FlagCells
  : T extends "String"
    ? TextCells | ConstantCells
    : T extends "DateTime"
      ? ConstantCells
      : NumberCells | ConstantCells;

/** A column for every column of an endpoint, of a kind that fits its type. */
export type ColumnsFor<E extends Endpoint> = {
  readonly [C in E["columns"][number] as C["name"]]: CellsOf<C["type"]>;
};

export function constant(value: string | number): ConstantCells {
  return { kind: "constant", value };
}

export function texts(column: TextColumn): TextCells {
  return { kind: "text", ...column };
}

export function numbers(values: Float64Array): NumberCells {
  return { kind: "number", values: () => values };
}

export function flags(values: Float64Array): FlagCells {
  return { kind: "flag", values: () => values };
}

/** A number for each row, computed for all rows at the first use; non-finite numbers are null. */
export function computed(count: number, numberAt: (at: number) => number): NumberCells {
  let values: Float64Array | undefined;
  return {
    kind: "number",
    values() {
      if (values === undefined) {
        values = new Float64Array(count);
        for (let at = 0; at < count; at++) {
          const value = numberAt(at);
          values[at] = Number.isFinite(value) ? value : Number.NaN;
        }
      }
      return values;
    },
  };
}

/** One cell. */
export function cellOf(column: TableColumn, at: number): string | number | boolean | null {
  switch (column.kind) {
    case "constant":
      return column.value;
    case "text":
      return column.dictionary.textOf(column.ids[at] as number);
    case "flag":
      return column.values()[at] === 1;
    case "number": {
      const value = column.values()[at] as number;
      return Number.isNaN(value) ? null : value;
    }
  }
}
