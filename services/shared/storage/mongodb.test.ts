import { randomUUID } from "node:crypto";
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
    traits: { shared: true, atomicWrites: false },
    open: async () => {
      const database = `chaintables_test_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
      return {
        connect: () => openMongoStore({ url, database }),
        remove: () => dropDatabase(database),
      };
    },
  });
}

async function dropDatabase(database: string): Promise<void> {
  const { MongoClient } = await import("mongodb");
  const client = new MongoClient(url as string);
  await client.db(database).dropDatabase();
  await client.close();
}
