import type { Column } from "../column.ts";
import type { Endpoint } from "../endpoint.ts";
import { EVENT_STREAM } from "../format.ts";
import { describeParameters, type ParameterDoc, type ParameterSchema } from "./parameters.ts";

/** One endpoint as a Markdown section: what it is, its parameters, its columns. */
export function toMarkdown(endpoint: Endpoint): string {
  const parts = [`## GET ${endpoint.path}`, `${endpoint.summary}.`];
  if (endpoint.description !== undefined) parts.push(endpoint.description);
  parts.push(describeAnswer(endpoint));
  parts.push("### Parameters", parametersTable(endpoint), "### Columns", columnsTable(endpoint.columns));
  return `${parts.join("\n\n")}\n`;
}

/** Order, absence and price of an endpoint's answer as one paragraph. */
export function describeAnswer(endpoint: Endpoint): string {
  const order = endpoint.rowOrder === "one row" ? "One row" : `Rows in order of ${endpoint.rowOrder}`;
  const absent =
    endpoint.whenAbsent === "not_found"
      ? "404 where nothing is known of the address"
      : "no rows where nothing matches";
  const price =
    endpoint.priceUsd === undefined
      ? ""
      : ` Also sold at ${endpoint.priceUsd} USD a request (x402 version 2).`;
  return `${order}; ${absent}. Media type \`${endpoint.mediaType}\`.${price}${describeLive(endpoint)}`;
}

const LIVE_FORMS = {
  row: "the row whenever it changes",
  list: "rows that are added, changed or removed",
  appends: "new rows, and in a reorg those taken back",
} as const;

function describeLive({ live }: Endpoint): string {
  if (live === undefined) return "";
  const key = live.kind === "row" ? "" : `; rows are named by ${live.key.join(", ")}`;
  return ` Live with \`Accept: ${EVENT_STREAM}\`: the table, then ${LIVE_FORMS[live.kind]}, each with its block${key}.`;
}

export function columnsTable(columns: readonly Column[]): string {
  const rows = columns.map((column) => [
    `\`${column.name}\``,
    `${column.type}${column.nullable === true ? ", may be null" : ""}`,
    column.unit ?? "",
    column.description,
  ]);
  return table(["Column", "Type", "Unit", "Meaning"], rows);
}

function parametersTable(endpoint: Endpoint): string {
  const docs = describeParameters(endpoint);
  if (docs.length === 0) return "None.";
  const rows = docs.map((doc) => [
    `\`${doc.name}\``,
    doc.required ? "yes" : "no",
    ruleOf(doc),
    doc.description,
  ]);
  return table(["Parameter", "Required", "Rule", "Meaning"], rows);
}

/** The rule of a parameter in words: "integer, 1 to 10000, default 100". */
export function ruleOf({ schema }: ParameterDoc): string {
  const words: string[] = [typeWord(schema)];
  if (schema.enum !== undefined) words.push(`one of ${schema.enum.join(", ")}`);
  if (schema.items?.enum !== undefined) words.push("of column names");
  if (schema.maxItems !== undefined) words.push(`at most ${schema.maxItems} items`);
  if (schema.items?.pattern !== undefined) words.push(`each of pattern \`${schema.items.pattern}\``);
  if (schema.minimum !== undefined && schema.maximum !== undefined)
    words.push(`${schema.minimum} to ${schema.maximum}`);
  else if (schema.minimum !== undefined) words.push(`from ${schema.minimum}`);
  if (schema.maxLength !== undefined) words.push(`at most ${schema.maxLength} characters`);
  if (schema.pattern !== undefined) words.push(`pattern \`${schema.pattern}\``);
  if (schema.default !== undefined) words.push(`default ${schema.default}`);
  return words.join(", ");
}

function typeWord(schema: ParameterSchema): string {
  return schema.type === "array" ? "list" : schema.type;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
