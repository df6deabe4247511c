import type { Cell } from "../contract/column.ts";
import type { RowText, TableShape } from "../contract/endpoint.ts";
import { checkRow } from "../contract/render-table.ts";

export type Row = readonly Cell[] | RowText;

/** A table to be written in some format. Its rows have passed `checkRows`. */
export interface TableToWrite {
  readonly endpoint: TableShape;
  readonly rows: readonly Row[];
}

/** Throws a plain Error on a row that cannot be sent: before the first byte, since later it would cut the connection. */
export function checkRows({ endpoint, rows }: TableToWrite): void {
  const width = endpoint.columns.length;
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as Row;
    if (typeof row !== "string") checkRow(endpoint, row, { at, width });
  }
}

/** The cells of a row, also of one that was rendered ahead. */
export function cellsOf(row: Row): readonly Cell[] {
  return typeof row === "string" ? JSON.parse(row) : row;
}

/** Rows a piece: some ten to a hundred kilobytes, written within a millisecond or two. */
const ROWS_PER_PIECE = 250;

/** The rows in pieces, between which the event loop may turn. */
export function* pieces(rows: readonly Row[]): Generator<readonly (readonly Cell[])[]> {
  for (let at = 0; at < rows.length; at += ROWS_PER_PIECE) {
    yield rows.slice(at, at + ROWS_PER_PIECE).map(cellsOf);
  }
}
