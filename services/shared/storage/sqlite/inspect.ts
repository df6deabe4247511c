import { existsSync } from "node:fs";
import type { PageCheck, StoreInspection, TableSize } from "../inspection.ts";
import type { Connection } from "./connection.ts";
import { messageOf, openConnection } from "./open-connection.ts";
import { readDeclarations } from "./read-declarations.ts";
import { sizeOfFile } from "./size.ts";

/** Faults of pages that are told of one file. */
const MOST_FAULTS = 20;

/** See inspectStore. */
export async function inspectSqlite(path: string, pages: PageCheck): Promise<StoreInspection | undefined> {
  if (!existsSync(path)) return undefined;
  const size = await sizeOfFile(path);
  const faults: string[] = [];
  let connection: Connection | undefined;
  /** What cannot be read is a fault of the file, and the rest is still told. */
  const read = async <T>(work: (from: Connection) => T, instead: T): Promise<T> => {
    if (connection === undefined) return instead;
    const from = connection;
    try {
      return await from.retrying(() => work(from));
    } catch (error) {
      faults.push(messageOf(error));
      return instead;
    }
  };
  try {
    connection = await openConnection({ path, readOnly: true });
  } catch (error) {
    faults.push(messageOf(error));
  }
  try {
    const declarations = await read(readDeclarations, new Map());
    if (pages !== "none") faults.push(...(await read((from) => checkPages(from, pages), [])));
    const tables = pages === "none" ? undefined : await read(sizesOf, undefined);
    const pageFaults = pages === "none" && faults.length === 0 ? undefined : [...new Set(faults)];
    return { place: path, declarations, size, tables, pageFaults };
  } finally {
    connection?.close();
  }
}

function checkPages(connection: Connection, pages: "quick" | "full"): string[] {
  const pragma = pages === "full" ? "integrity_check" : "quick_check";
  const said = connection.all(`PRAGMA ${pragma}(${MOST_FAULTS})`).map(([line]) => String(line));
  return said.length === 1 && said[0] === "ok" ? [] : said;
}

/** From the pages of each tree, in one pass over the file. */
function sizesOf(connection: Connection): TableSize[] {
  const trees = connection.all(
    `SELECT s.tbl_name, s.type, s.sql, d.pgsize, d.ncell FROM dbstat AS d
     JOIN sqlite_schema AS s ON s.name = d.name WHERE d.aggregate = TRUE`,
  );
  const sizes = new Map<string, { rows: number | null; bytes: number; indexBytes: number }>();
  for (const [table, type, sql, bytes, cells] of trees) {
    const name = String(table);
    const size = sizes.get(name) ?? { rows: null, bytes: 0, indexBytes: 0 };
    sizes.set(name, size);
    if (type === "index") size.indexBytes += Number(bytes);
    else {
      size.bytes += Number(bytes);
      // Each cell is a row only where rows fill the inner nodes too.
      if (/WITHOUT ROWID/.test(String(sql))) size.rows = Number(cells);
    }
  }
  return [...sizes].map(([name, size]) => ({ name, ...size })).sort(byBytes);
}

function byBytes(a: TableSize, b: TableSize): number {
  return b.bytes + b.indexBytes - (a.bytes + a.indexBytes);
}
