import { randomUUID } from "node:crypto";
import type { Db } from "mongodb";
import { describe, it } from "mocha";
import { openMongoStore } from "./mongodb.ts";
import { describeStore } from "./suite.ts";

const url = process.env["MONGODB_URL"];

if (url === undefined) {
  describe("store contract: mongodb", () => {
    it("pending: MONGODB_URL is not set, so there is no server to run against", function () {
      this.skip();
    });
  });
} else {
  describeStore("mongodb", {
    traits: { shared: true, atomicWrites: false, readsIndexesInOrder: () => withDatabase(newName(), probeOrderedReads) },
    open: async () => {
      const database = newName();
      return {
        connect: () => openMongoStore({ url, database }),
        remove: () => withDatabase(database, async () => {}),
      };
    },
  });
}

function newName(): string {
  return `chaintables_test_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
}

/** Works on a database, and drops it. */
async function withDatabase<T>(name: string, work: (db: Db) => Promise<T>): Promise<T> {
  const { MongoClient } = await import("mongodb");
  const client = new MongoClient(url as string);
  try {
    return await work(client.db(name));
  } finally {
    await client.db(name).dropDatabase();
    await client.close();
  }
}

/**
 * The plainest ordered read there is, without our adapter. MongoDB takes one row from the index; compatible engines
 * without order in their indexes (DocumentDB on PostgreSQL, for one) read and sort all.
 */
async function probeOrderedReads(db: Db): Promise<boolean> {
  const best: number[] = [];
  for (const [i, size] of [200, 20_000].entries()) {
    const documents = db.collection<{ _id: number; time: number }>(`probe_${size}`);
    await documents.createIndex({ time: 1 });
    await documents.insertMany(Array.from({ length: size }, (_, n) => ({ _id: n, time: n * 7 })));
    best[i] = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 10; run++) {
      const started = performance.now();
      await documents.find({ time: { $gte: 0 } }, { sort: { time: -1 }, limit: 1 }).toArray();
      best[i] = Math.min(best[i] as number, performance.now() - started);
    }
  }
  return (best[1] as number) / (best[0] as number) < 6;
}
