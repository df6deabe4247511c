import type { Cell } from "../contract/column.ts";
import { pieces, type TableToWrite } from "./rows.ts";

const QUOTED = /[",\r\n]|^$/;

/**
 * CSV by RFC 4180 with a header line, UTF-8, lines ending in LF. null is an empty field, an empty text is `""`; arrays
 * are JSON. Values are written as they are: a token's symbol may begin with `=`, which spreadsheets run as a formula.
 */
export function* writeCsv({ endpoint, rows }: TableToWrite): Generator<string> {
  yield toLine(endpoint.columns.map(({ name }) => name));
  for (const piece of pieces(rows)) yield piece.map(toLine).join("");
}

function toLine(cells: readonly Cell[]): string {
  let line = "";
  for (let at = 0; at < cells.length; at++) line += (at === 0 ? "" : ",") + toField(cells[at] as Cell);
  return `${line}\n`;
}

function toField(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number" || typeof cell === "boolean") return String(cell);
  const text = typeof cell === "string" ? cell : JSON.stringify(cell);
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
