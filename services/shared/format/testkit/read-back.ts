import { tableFromIPC } from "apache-arrow";
import { parquetReadObjects } from "hyparquet";
import { formatDateTime, integerCell } from "../../contract/cells.ts";
import type { Cell } from "../../contract/column.ts";
import type { Endpoint, TableShape } from "../../contract/endpoint.ts";
import type { Format } from "../../contract/format.ts";
import { parseType, type TypeNode } from "../../contract/type.ts";
import { tupleField } from "../column-values.ts";

/**
 * Reads a table's cells back from any format, for tests: binary formats by libraries that did not write them, values by
 * the column's type as the specified JSON has them.
 */
export async function readBack(
  format: Format,
  { endpoint, bytes }: { readonly endpoint: Endpoint; readonly bytes: Buffer },
): Promise<Cell[][]> {
  const names = endpoint.columns.map(({ name }) => name);
  const text = () => new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  const fromObject = (row: Record<string, unknown>): Cell[] => {
    if (Object.keys(row).join() !== names.join()) throw new Error(`The columns are ${Object.keys(row)}`);
    return names.map((name) => row[name] as Cell);
  };
  switch (format) {
    case "json":
      return tableOf(endpoint, text()).data as Cell[][];
    case "objects":
      return (tableOf(endpoint, text()).data as Record<string, unknown>[]).map(fromObject);
    case "ndjson":
      return text()
        .split("\n")
        .slice(0, -1)
        .map((line) => fromObject(JSON.parse(line)));
    case "csv": {
      const [head, ...rows] = parseCsv(text());
      if (head?.join() !== names.join()) throw new Error(`The header is ${head}`);
      return rows.map((fields) => fields.map((field, at) => toCsvCell(field, typeOf(endpoint, at))));
    }
    case "arrow": {
      const table = tableFromIPC(bytes);
      const rows = table.toArray() as { toArray(): unknown[] }[];
      return toWire(
        endpoint,
        rows.map((row) => names.map((_, at) => row.toArray()[at])),
      );
    }
    case "parquet": {
      const file = new Uint8Array(bytes).buffer;
      const rows = await parquetReadObjects({ file });
      return toWire(
        endpoint,
        rows.map((row) => fromObject(row)),
      );
    }
  }
}

/** Rows as a library of binary formats returns them (bigints, dates, objects) as cells of the specified JSON. */
export function toWire(endpoint: TableShape, rows: readonly (readonly unknown[])[]): Cell[][] {
  return rows.map((row) => row.map((value, at) => toWireCell(value, typeOf(endpoint, at))));
}

function typeOf(endpoint: TableShape, at: number): TypeNode {
  return parseType(endpoint.columns[at]?.type ?? "") as TypeNode;
}

function toWireCell(value: unknown, node: TypeNode): Cell {
  if (value === null || value === undefined) return null;
  switch (node.kind) {
    case "nullable":
      return toWireCell(value, node.inner);
    case "array":
      return Array.from(value as Iterable<unknown>, (item) => toWireCell(item, node.inner));
    case "tuple":
      return node.items.map((item, at) =>
        toWireCell((value as Record<string, unknown>)[tupleField(at)], item),
      );
    default:
      if (node.scalar === "DateTime") return formatDateTime(Number(value) / 1000);
      return typeof value === "bigint" ? integerCell(value) : (value as Cell);
  }
}

function tableOf({ body, columns }: Endpoint, text: string): { data: unknown[] } {
  const parsed = JSON.parse(text);
  if (body === "array" && parsed.length !== 1) throw new Error("The body is not an array of one table");
  const table = body === "array" ? parsed[0] : parsed;
  const expected = JSON.stringify(columns.map(({ name, type }) => ({ name, type })));
  if (JSON.stringify(table.columns) !== expected || table.rows !== table.data.length)
    throw new Error("Columns or number of rows are wrong");
  return table;
}

/** A field of CSV; null where it was empty and not quoted. */
type CsvField = string | null;

/** RFC 4180, strictly. */
function parseCsv(text: string): CsvField[][] {
  const rows: CsvField[][] = [];
  let row: CsvField[] = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\n)/gy;
  while (pattern.lastIndex < text.length) {
    const match = pattern.exec(text);
    if (match === null) throw new Error("This is not CSV");
    const [, quoted, plain, end] = match;
    row.push(quoted === undefined ? plain || null : quoted.replaceAll('""', '"'));
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

function toCsvCell(field: CsvField, node: TypeNode): Cell {
  if (field === null) return null;
  if (node.kind === "nullable") return toCsvCell(field, node.inner);
  if (node.kind !== "scalar") return JSON.parse(field);
  switch (node.scalar) {
    case "String":
    case "DateTime":
    case "UInt128":
    case "UInt256":
      return field;
    case "Bool":
      return field === "true";
    case "UInt64":
    case "Int64":
      return integerCell(BigInt(field));
    default:
      return Number(field);
  }
}
