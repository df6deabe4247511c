import type { Cell } from "../contract/column.ts";
import type { TableShape } from "../contract/endpoint.ts";
import { pieces, type TableToWrite } from "./rows.ts";

/** Writes rows as JSON objects whose properties are the columns, in their order. */
export function createObjectWriter({ columns }: TableShape): (cells: readonly Cell[]) => string {
  const keys = columns.map(({ name }, at) => `${at === 0 ? "{" : ","}${JSON.stringify(name)}:`);
  return (cells) => {
    let text = "";
    for (let at = 0; at < keys.length; at++) text += `${keys[at]}${JSON.stringify(cells[at])}`;
    return `${text}}`;
  };
}

/** NDJSON: one object a line, no columns, no count. */
export function* writeNdjson({ endpoint, rows }: TableToWrite): Generator<string> {
  const toObject = createObjectWriter(endpoint);
  for (const piece of pieces(rows)) yield piece.map((cells) => `${toObject(cells)}\n`).join("");
}

/** The specified table, each row an object in place of an array. */
export function* writeObjects(
  table: TableToWrite & { readonly body: "array" | "object" },
): Generator<string> {
  const { endpoint, rows, body } = table;
  const toObject = createObjectWriter(endpoint);
  const columns = JSON.stringify(endpoint.columns.map(({ name, type }) => ({ name, type })));
  yield `${body === "array" ? "[" : ""}{"columns":${columns},"data":[`;
  let before = "";
  for (const piece of pieces(rows)) {
    yield before + piece.map(toObject).join(",");
    before = ",";
  }
  yield `],"rows":${rows.length}}${body === "array" ? "]" : ""}`;
}
