import type { Connection } from "./connection.ts";

/** The stored declarations by collection; none in a file that no store has been opened in for writing. */
export function readDeclarations(connection: Connection): ReadonlyMap<string, string> {
  const [[tables] = []] = connection.all(
    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '_collections'",
  );
  if (tables === 0) return new Map();
  const rows = connection.all("SELECT name, declaration FROM _collections");
  return new Map(rows.map(([name, text]) => [String(name), String(text)]));
}
