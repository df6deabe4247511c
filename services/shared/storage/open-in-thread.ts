import { openMongoStore } from "./mongodb/store.ts";
import { databaseOf, type OpenStoreOptions, sqliteOptionsOf } from "./open.ts";
import type { Store } from "./port.ts";
import { openSqliteStore } from "./sqlite/store.ts";

/**
 * As openStore, for worker threads: those of Node 20 cannot import() TypeScript, so both adapters are imported here. The
 * store's folder exists by then.
 */
export function openStoreInThread(options: OpenStoreOptions): Promise<Store> {
  const { service, mongodbUrl } = options;
  return mongodbUrl === undefined
    ? openSqliteStore(sqliteOptionsOf(options))
    : openMongoStore({ url: mongodbUrl, database: databaseOf(service) });
}
