import { randomUUID } from "node:crypto";
import { openMongoStore } from "../mongodb.ts";
import type { Store } from "../port.ts";
import { openSqliteStore } from "../sqlite.ts";

/** A storage engine that a test runs on. */
export interface TestEngine {
  readonly name: string;
  /** Why it cannot be used here. */
  readonly absent?: string;
  /** An empty store; `remove` closes it and leaves nothing of it. */
  open(): Promise<{ readonly store: Store; remove(): Promise<void> }>;
}

const sqlite: TestEngine = {
  name: "SQLite",
  async open() {
    const store = await openSqliteStore({ path: ":memory:" });
    return { store, remove: () => store.close() };
  },
};

function mongodb(url: string | undefined): TestEngine {
  return {
    name: "MongoDB",
    ...(url === undefined && { absent: "MONGODB_URL is not set, so there is no server to run against" }),
    async open() {
      const { MongoClient } = await import("mongodb");
      const database = `chaintables_test_${randomUUID().replaceAll("-", "")}`;
      const store = await openMongoStore({ url: url ?? "", database });
      return {
        store,
        async remove() {
          await store.close();
          const client = new MongoClient(url ?? "");
          await client.db(database).dropDatabase();
          await client.close();
        },
      };
    },
  };
}

export const TEST_ENGINES: readonly TestEngine[] = [sqlite, mongodb(process.env.MONGODB_URL)];
