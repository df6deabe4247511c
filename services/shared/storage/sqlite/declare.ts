import type { Collection } from "../collection.ts";
import {
  asStored,
  type CompiledCollection,
  changedDeclarationError,
  compileCollection,
  extensionOf,
  isUpToDate,
  undeclaredError,
} from "../declaration.ts";
import type { Connection } from "./connection.ts";
import { hasTable, readDeclarations } from "./read-declarations.ts";
import { createSql, dropSql, extendSql, firstRowSql } from "./sql.ts";

interface Place {
  readonly path: string;
  readonly readOnly: boolean;
}

/** Creates what is missing of collections, and returns each as it is stored. Throws where a stored declaration differs. */
export async function declareIn(
  connection: Connection,
  collections: readonly Collection[],
  { path, readOnly }: Place,
): Promise<CompiledCollection[]> {
  const compiled = (stored: ReadonlyMap<string, string>): CompiledCollection[] =>
    collections.map((collection) => compileCollection(asStored(collection, stored.get(collection.name))));
  const missing = (stored: ReadonlyMap<string, string>): CompiledCollection[] => {
    const all = compiled(stored);
    const declarations = new Map(all.map((declared) => [declared.name, declared]));
    for (const declared of all) {
      const before = stored.get(declared.name) ?? declarations.get(declared.name)?.fingerprint;
      if (extensionOf(String(before), declared) === undefined)
        throw changedDeclarationError(declared, { stored: String(before), place: path });
    }
    return [...declarations.values()].filter((declared) => {
      const before = stored.get(declared.name);
      return before === undefined || !isUpToDate(before, declared, { readOnly });
    });
  };
  return connection.retrying(() => {
    // Usually all exist: then no lock is needed, and a read-only store can declare too.
    const found = readDeclarations(connection);
    const [absent] = missing(found);
    if (absent === undefined) return compiled(found);
    if (readOnly) throw undeclaredError(absent, path);
    connection.transaction("write", () => {
      const stored = readDeclarations(connection);
      for (const declared of missing(stored)) create(connection, declared, stored.get(declared.name));
    });
    return compiled(readDeclarations(connection));
  });
}

function create(connection: Connection, declared: CompiledCollection, before: string | undefined): void {
  const extension = before === undefined ? undefined : extensionOf(before, declared);
  // What was forgotten is still there, for those who read meanwhile.
  if (before === undefined && !hasRows(connection, declared.name)) connection.exec(dropSql(declared.name));
  const statements = extension === undefined ? createSql(declared) : extendSql(declared, extension);
  for (const sql of statements) connection.exec(sql);
  connection.run("INSERT OR REPLACE INTO _collections VALUES (?, ?)", [declared.name, declared.fingerprint]);
}

function hasRows(connection: Connection, name: string): boolean {
  return hasTable(connection, name) && connection.all(firstRowSql(name)).length > 0;
}

/** See Store.forget. */
export function forgetIn(connection: Connection, collections: readonly Collection[]): Promise<boolean> {
  const names = collections.map(({ name }) => name);
  return connection.retrying(() =>
    connection.transaction("write", () => {
      if (names.some((name) => hasRows(connection, name))) return false;
      for (const name of names) connection.run("DELETE FROM _collections WHERE name = ?", [name]);
      return true;
    }),
  );
}
