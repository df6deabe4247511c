import type { Connection } from "./connection.ts";

export function hasTable(connection: Connection, name: string): boolean {
  return connection.all("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", [name]).length > 0;
}

/** The stored declarations by collection; none in a file that no store has been opened in for writing. */
export function readDeclarations(connection: Connection): ReadonlyMap<string, string> {
  if (!hasTable(connection, "_collections")) return new Map();
  const rows = connection.all("SELECT name, declaration FROM _collections");
  return new Map(rows.map(([name, text]) => [String(name), String(text)]));
}
