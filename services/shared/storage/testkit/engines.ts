import { randomUUID } from "node:crypto";
import { it } from "mocha";
import { describeRounds, describeThoroughRounds } from "../../testkit/describe.ts";
import { openMongoStore } from "../mongodb/store.ts";
import type { Store } from "../port.ts";
import { openSqliteStore } from "../sqlite/store.ts";

/** A storage engine that a test runs on. */
export interface TestEngine {
  readonly name: string;
  /** Why it is unavailable here. */
  readonly absent?: string;
  /** An empty store; `remove` closes and deletes it. */
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

/**
 * A suite for each engine; pending with its reason where the engine's server is absent. With `thorough`, on any: see
 * describeThorough.
 */
export function describeOnEngines(
  title: (engine: string) => string,
  { rounds = 0, thorough = false }: { rounds?: number; thorough?: boolean },
  suite: (engine: TestEngine) => void,
): void {
  for (const engine of [sqlite, mongodb(process.env.MONGODB_URL)]) {
    const define = () => {
      if (engine.absent === undefined) return suite(engine);
      it(`pending: ${engine.absent}`, function () {
        this.skip();
      });
    };
    if (thorough) describeThoroughRounds(rounds, title(engine.name), define);
    else describeRounds(rounds, title(engine.name), define);
  }
}
