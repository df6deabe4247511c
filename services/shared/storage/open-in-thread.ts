import { openMongoStore } from "./mongodb/store.ts";
import { databaseOf, fileOf, type OpenStoreOptions } from "./open.ts";
import type { Store } from "./port.ts";
import { openSqliteStore } from "./sqlite/store.ts";

/**
 * As openStore, for worker threads: those of Node 20 cannot import() TypeScript, so both adapters are imported here. The
 * store's folder exists by then.
 */
export function openStoreInThread(options: OpenStoreOptions): Promise<Store> {
  const { service, dataDir, mongodbUrl, mappedBytes, logBytes } = options;
  return mongodbUrl === undefined
    ? openSqliteStore({
        path: fileOf(service, dataDir),
        ...(mappedBytes !== undefined && { mappedBytes }),
        ...(logBytes !== undefined && { logBytes }),
      })
    : openMongoStore({ url: mongodbUrl, database: databaseOf(service) });
}
