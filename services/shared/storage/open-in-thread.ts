import { openMongoStore } from "./mongodb/store.ts";
import { databaseOf, fileOf, type OpenStoreOptions } from "./open.ts";
import type { Store } from "./port.ts";
import { openSqliteStore } from "./sqlite/store.ts";

/**
 * As openStore, for worker threads: those of Node 20 cannot import() TypeScript, so both adapters are imported here. The
 * store's folder exists by then.
 */
export function openStoreInThread({ service, dataDir, mongodbUrl }: OpenStoreOptions): Promise<Store> {
  return mongodbUrl === undefined
    ? openSqliteStore({ path: fileOf(service, dataDir) })
    : openMongoStore({ url: mongodbUrl, database: databaseOf(service) });
}
