import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect } from "chai";
import { describe, it } from "mocha";
import type { Db } from "mongodb";
import { describeWithProcesses } from "../../testkit/describe.ts";
import { put, removeWhere, type Store } from "../port.ts";
import { sample, samples } from "../suite/sample.ts";
import { describeStore } from "../suite.ts";
import type { MongoOptions } from "./connection.ts";
import { openMongoStore } from "./store.ts";

const url = process.env.MONGODB_URL;

if (url === undefined) {
  describe("store contract: mongodb", () => {
    it("pending: MONGODB_URL is not set, so there is no server to run against", function () {
      this.skip();
    });
  });
} else {
  describeStore("mongodb", {
    traits: {
      shared: true,
      atomicWrites: false,
      readsIndexesInOrder: () => withDatabase(newName(), probeOrderedReads),
    },
    open: async () => {
      const database = newName();
      return {
        connect: () => openMongoStore({ url, database, dropAfterMs: 50 }),
        remove: () => withDatabase(database, async () => {}),
      };
    },
  });

  describe("mongodb: a former index", () => {
    const former = {
      ...samples,
      indexes: samples.indexes.slice(1),
      formerIndexes: samples.indexes.slice(0, 1),
    };
    const namesIn = (database: string) =>
      withClient((db) => db(database).collection(samples.name).indexes()).then((list) =>
        list.map(({ name }) => name),
      );

    it("is left by services, and by a writer for as long as older services may read by it", async () => {
      const database = newName();
      const stores: Store[] = [];
      const open = async (options: Partial<MongoOptions>) => {
        const store = await openMongoStore({ url, database, ...options });
        stores.push(store);
        return store;
      };
      try {
        await (await open({})).declare([samples]);
        await (await open({ access: "either", dropAfterMs: 0 })).declare([former]);
        await (await open({ access: "read", dropAfterMs: 0 })).declare([former]);
        await (await open({})).declare([former]);
        await new Promise((resolve) => setTimeout(resolve, 200));
        expect(await namesIn(database)).to.include("by_dex_blockTime");
        // An older service that starts meanwhile finds what it knows.
        await (await open({ access: "either" })).declare([samples]);
        const writer = await open({ dropAfterMs: 0 });
        await writer.declare([former]);
        for (let tries = 0; (await namesIn(database)).includes("by_dex_blockTime"); tries++) {
          if (tries === 200) expect.fail("the index is still there");
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        expect(await namesIn(database)).to.have.length(samples.indexes.length);
      } finally {
        for (const store of stores) await store.close();
        await withDatabase(database, async () => {});
      }
    });

    it("is gone from a database that has lost it already, as after a kill before this was recorded", async () => {
      const database = newName();
      const store = await openMongoStore({ url, database, dropAfterMs: 0 });
      try {
        await store.declare([samples]);
        await withClient((db) => db(database).collection(samples.name).dropIndex("by_dex_blockTime"));
        await store.declare([former]);
        const { formerIndexes: _, ...forgetful } = former;
        const isRecorded = () =>
          store.declare([forgetful]).then(
            () => true,
            () => false,
          );
        for (let tries = 0; !(await isRecorded()); tries++) {
          if (tries === 200) expect.fail("it is still recorded");
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      } finally {
        await store.close();
        await withDatabase(database, async () => {});
      }
    });
  });

  describeWithProcesses("mongodb behind a failing network", () => {
    it("writes and reads again what a broken connection cut off", async () => {
      const proxy = await breakingProxy(new URL(url));
      const database = newName();
      const store = await openMongoStore({
        url: `mongodb://127.0.0.1:${proxy.port}/?directConnection=true&serverSelectionTimeoutMS=1000`,
        database,
      });
      try {
        await store.declare([samples]);
        const rows = Array.from({ length: 8_000 }, (_, i) => sample(i));
        const writing = store.write([
          put(samples, rows),
          removeWhere(samples, { blockTime: { lt: sample(10).blockTime } }),
        ]);
        for (let i = 0; i < 3; i++) {
          await new Promise((resolve) => setTimeout(resolve, 30));
          proxy.breakAll();
        }
        await writing;
        const reading = store.find(samples, {});
        setTimeout(() => proxy.breakAll(), 20);
        expect(await reading).to.deep.equal(rows.slice(10));
        expect(proxy.broken()).to.be.greaterThan(0);
      } finally {
        await store.close();
        await proxy.close();
        await withDatabase(database, async () => {});
      }
    });
  });
}

/** Passes bytes on to the server, and cuts every connection on demand. */
async function breakingProxy(
  target: URL,
): Promise<{ port: number; breakAll(): void; broken(): number; close(): Promise<void> }> {
  const open = new Set<Socket>();
  let broken = 0;
  const server = createServer((inbound) => {
    const outbound = connect({ host: target.hostname, port: Number(target.port || 27017) });
    for (const socket of [inbound, outbound]) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        open.delete(socket);
        inbound.destroy();
        outbound.destroy();
      });
    }
    inbound.pipe(outbound).pipe(inbound);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    breakAll() {
      broken += open.size;
      for (const socket of open) socket.destroy();
    },
    broken: () => broken,
    close: async () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

function newName(): string {
  return `chaintables_test_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
}

async function withClient<T>(work: (db: (name: string) => Db) => Promise<T>): Promise<T> {
  const { MongoClient } = await import("mongodb");
  const client = new MongoClient(url as string);
  try {
    return await work((name) => client.db(name));
  } finally {
    await client.close();
  }
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
