import { join } from "node:path";
import type { Access, Store } from "./port.ts";
import type { SqliteOptions } from "./sqlite/open-connection.ts";

/** How the SQLite file of a service is opened. */
export type FileOptions = Pick<SqliteOptions, "mappedBytes" | "logBytes" | "pageBytes">;

export interface OpenStoreOptions extends FileOptions {
  /** Name of the service; each service has its own file or database. */
  readonly service: string;
  /** MongoDB when given, an SQLite file otherwise. */
  readonly mongodbUrl?: string;
  /** Folder of the SQLite files; created if missing. */
  readonly dataDir: string;
  /** Default "write". */
  readonly access?: Access;
}

/**
 * Opens the store of a service: `<dataDir>/<service>.sqlite`, or the MongoDB database `chaintables_<service>`
 * (with _ for -). Loads only the adapter that it uses. Throws ConfigError, or Error, that says which right is missing.
 */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const { service, mongodbUrl, dataDir, access = "write" } = options;
  if (!/^[a-z][a-z0-9-]*$/.test(service)) {
    throw new TypeError(
      `Cannot open the store of "${service}": a service name is lower-case letters, digits and -`,
    );
  }
  if (mongodbUrl !== undefined) {
    const { openMongoStore } = await import("./mongodb/store.ts");
    return openMongoStore({ url: mongodbUrl, database: databaseOf(service), access });
  }
  const { isWritable } = await import("./sqlite/access.ts");
  const { openSqliteStore } = await import("./sqlite/store.ts");
  const file = sqliteOptionsOf(options);
  return openSqliteStore({ ...file, readOnly: !(await isWritable(file.path, { dataDir, access })) });
}

/** The service's file, and how it is opened. */
export function sqliteOptionsOf(options: OpenStoreOptions): FileOptions & Pick<SqliteOptions, "path"> {
  const { service, dataDir, mongodbUrl: _, access: __, ...file } = options;
  return { ...file, path: fileOf(service, dataDir) };
}

export function databaseOf(service: string): string {
  return `chaintables_${service.replaceAll("-", "_")}`;
}

export function fileOf(service: string, dataDir: string): string {
  return join(dataDir, `${service}.sqlite`);
}
