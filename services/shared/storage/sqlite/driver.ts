/**
 * The driver: `node:sqlite` as a package, which Node 20 does not have (decision 104). Only here and in tests is it named. It
 * loads with the first file, so that processes that use MongoDB do without it.
 */
import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite";
import type { Stored } from "../values.ts";
import type { Cell } from "./cell.ts";

export type Database = DatabaseSyncInstance;
export type Statement = StatementSyncInstance;

/** Opens or creates a file. The event loop stands still while a statement waits for a lock, at most `waitMs`. */
export async function openDatabase(path: string, waitMs = 0): Promise<Database> {
  const { DatabaseSync } = await import("@photostructure/sqlite");
  return new DatabaseSync(path, { timeout: waitMs });
}

/** A statement for `allRows` and `changeRows`. */
export function prepare(database: Database, sql: string): Statement {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** Rows as arrays, in the order of the columns. */
export function allRows(statement: Statement, params: readonly Cell[]): Stored[][] {
  return statement.all(...exact(params)) as unknown as Stored[][];
}

/** Returns how many rows were changed. */
export function changeRows(statement: Statement, params: readonly Cell[]): number {
  return Number(statement.run(...exact(params)).changes);
}

/** A number that the file keeps of itself; 0 where it has none. */
export function readPragma(database: Database, name: string): number {
  return (allRows(prepare(database, `PRAGMA ${name}`), [])[0]?.[0] ?? 0) as number;
}

/** SQLite's extended result code, of the driver's errors. */
export function resultCodeOf(error: unknown): number | undefined {
  const { errcode } = (error ?? {}) as { errcode?: unknown };
  return typeof errcode === "number" ? errcode : undefined;
}

/** The result code without its extension. */
export function primaryCodeOf(error: unknown): number | undefined {
  const code = resultCodeOf(error);
  return code === undefined ? undefined : code & 0xff;
}

/**
 * The driver makes 0 of a number above 0 and below Number.EPSILON (its sqlite_impl.cpp, BindSingleParameter of 2.3.0). As
 * text it becomes the same double in a REAL column, and beside one.
 */
function exact(params: readonly Cell[]): readonly Cell[] {
  return params.some(isTiny) ? params.map((value) => (isTiny(value) ? String(value) : value)) : params;
}

function isTiny(value: Cell): value is number {
  return typeof value === "number" && value > 0 && value < Number.EPSILON;
}
