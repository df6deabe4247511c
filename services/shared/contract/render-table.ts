import type { Cell } from "./column.ts";
import type { Endpoint, RowText, TableShape } from "./endpoint.ts";

interface TableFrame {
  /** Body text before the rows and, after them, around the row count. */
  readonly head: string;
  readonly middle: string;
  readonly tail: string;
  readonly width: number;
}

const frames = new WeakMap<Endpoint, TableFrame>();

function tableFrame(endpoint: Endpoint): TableFrame {
  const known = frames.get(endpoint);
  if (known !== undefined) return known;
  const columns = JSON.stringify(endpoint.columns.map(({ name, type }) => ({ name, type })));
  const inArray = endpoint.body === "array";
  const frame: TableFrame = {
    head: `${inArray ? "[" : ""}{"columns":${columns},"data":`,
    middle: ',"rows":',
    tail: inArray ? "}]" : "}",
    width: endpoint.columns.length,
  };
  frames.set(endpoint, frame);
  return frame;
}

/**
 * The body of a successful answer: `{columns, data, rows}`, in an array on EVM endpoints.
 * Throws a plain Error on values that JSON turns silently into null (NaN, infinities, undefined) or cannot hold, and on a
 * row of the wrong length: such a row is a bug of its handler and must not reach a client as data.
 */
export function renderTable(endpoint: Endpoint, rows: readonly (readonly Cell[] | RowText)[]): string {
  const frame = tableFrame(endpoint);
  let renderedCount = 0;
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as readonly Cell[] | RowText;
    if (typeof row === "string") renderedCount += 1;
    else checkRow(endpoint, row, { at, width: frame.width });
  }
  return frame.head + renderRows(rows, renderedCount) + frame.middle + rows.length + frame.tail;
}

function renderRows(rows: readonly (readonly Cell[] | RowText)[], renderedCount: number): string {
  if (renderedCount === 0) return JSON.stringify(rows);
  return `[${(renderedCount === rows.length ? rows : rows.map(renderRow)).join(",")}]`;
}

function renderRow(row: readonly Cell[] | RowText): string {
  return typeof row === "string" ? row : JSON.stringify(row);
}

/** Renders one row ahead of time, for `renderTable`. Throws like it. */
export function toRowText(endpoint: TableShape, cells: readonly Cell[]): RowText {
  checkRow(endpoint, cells, { at: 0, width: endpoint.columns.length });
  return JSON.stringify(cells) as RowText;
}

export function checkRow(
  endpoint: TableShape,
  row: readonly Cell[],
  { at, width }: { at: number; width: number },
): void {
  if (row.length !== width) {
    throw new Error(
      `Cannot render ${endpoint.path}: row ${at} has ${row.length} cells for ${width} columns.`,
    );
  }
  for (let column = 0; column < width; column++) {
    if (!isCell(row[column])) {
      const name = endpoint.columns[column]?.name;
      throw new Error(
        `Cannot render ${endpoint.path}: row ${at}, column ${name} holds a value that JSON cannot represent.`,
      );
    }
  }
}

function isCell(value: unknown): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return value - value === 0; // false for NaN and both infinities, and cheaper than Number.isFinite
    case "object":
      if (value === null) return true;
      if (!Array.isArray(value)) return false;
      for (let at = 0; at < value.length; at++) if (!isCell(value[at])) return false;
      return true;
    default:
      return false;
  }
}
