import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect } from "chai";
import { describe, it } from "mocha";
import type { Db } from "mongodb";
import { describeWithProcesses } from "../../testkit/describe.ts";
import { put, removeWhere } from "../port.ts";
import { sample, samples } from "../suite/sample.ts";
import { describeStore } from "../suite.ts";
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
        connect: () => openMongoStore({ url, database }),
        remove: () => withDatabase(database, async () => {}),
      };
    },
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
