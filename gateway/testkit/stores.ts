import { randomUUID } from "node:crypto";
import type { Store } from "../../services/shared/storage/port.ts";
import { openSqliteStore } from "../../services/shared/storage/sqlite/store.ts";

const { MONGODB_URL } = process.env;

export interface OpenedStore {
  readonly store: Store;
  /** Leaves nothing behind. */
  close(): Promise<void>;
}

/** Stores to test against, empty at each opening; undefined where the engine's server is not there. */
export const TEST_STORES: Record<string, (() => Promise<OpenedStore>) | undefined> = {
  sqlite: async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    return { store, close: () => store.close() };
  },
  mongodb: MONGODB_URL ? () => openTestMongo(MONGODB_URL) : undefined,
};

async function openTestMongo(url: string): Promise<OpenedStore> {
  const { openMongoStore } = await import("../../services/shared/storage/mongodb/store.ts");
  const database = `chaintables_test_${randomUUID().slice(0, 8)}`;
  const store = await openMongoStore({ url, database });
  const close = async () => {
    await store.close();
    const { MongoClient } = await import("mongodb");
    const client = new MongoClient(url);
    await client.db(database).dropDatabase();
    await client.close();
  };
  return { store, close };
}
