import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { MongoClient } from "mongodb";
import { pino } from "pino";
import { runAsLeader } from "../../ingest/run-ingest.ts";
import { describeLong } from "../../testkit/describe.ts";
import { collection } from "../collection.ts";
import { claimRow, guardedPut, leases } from "../lease.ts";
import { FailoverError, put, removeWhere, requireRow, type Store } from "../port.ts";
import { describeFences } from "../suite/fences.ts";
import type { SuiteOptions } from "../suite/fixture.ts";
import { describeQueries } from "../suite/queries.ts";
import { describeRaces } from "../suite/races.ts";
import { describeWithin } from "../suite/within.ts";
import { TestMongod, type TestMongodOptions } from "../testkit/mongod/server.ts";
import { openMongoStore } from "./store.ts";

const checkpoints = collection({
  name: "checkpoints",
  fields: { chainId: "int", block: "int" },
  key: ["chainId"],
  indexes: [],
  shardKey: ["chainId"],
});
const rows = collection({
  name: "rows",
  fields: { chainId: "int", block: "int", made: "text" },
  key: ["chainId", "block"],
  indexes: [],
  shardKey: ["chainId", "block"],
});
const KEY = { chainId: 1 };
const LAST = 40;

describe("a MongoDB replica set", function () {
  this.timeout(30_000);
  const opened: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });
  const start = async (options?: TestMongodOptions): Promise<TestMongod> => {
    const server = await TestMongod.start(options);
    opened.push(() => server.close());
    return server;
  };
  const open = async (server: TestMongod): Promise<Store> => {
    const store = await openMongoStore({ url: server.url, database: "test" });
    opened.push(() => store.close());
    await store.declare([checkpoints, rows, leases]);
    return store;
  };

  /** An ingest that knows its checkpoint from memory, as ours do; `at` is called before each block. */
  const ingest = async (store: Store, at: (block: number) => Promise<void>): Promise<number> => {
    const stop = new AbortController();
    let starts = 0;
    const options = {
      store,
      name: "ingest",
      ttlMs: 60_000,
      log: pino({ enabled: false }),
      signal: stop.signal,
    };
    await runAsLeader(options, async ({ guard, signal }) => {
      starts++;
      await claimRow(store, guard, { target: checkpoints, key: KEY });
      let block = (await store.get(checkpoints, KEY))?.block ?? 0;
      while (!signal.aborted && block < LAST) {
        const next = block + 1;
        await at(next);
        try {
          await store.write([
            ...guard(),
            put(rows, [{ ...KEY, block: next, made: `of ${next}` }]),
            ...guardedPut(guard, checkpoints, { ...KEY, block: next }),
          ]);
        } catch (error) {
          // As retryUntilAborted: the next attempt starts from the store.
          if (!(error instanceof FailoverError)) throw error;
          block = (await store.get(checkpoints, KEY))?.block ?? 0;
          continue;
        }
        block = next;
      }
      if (block === LAST) stop.abort();
    });
    return starts;
  };
  const expectComplete = (server: TestMongod): void => {
    const made = server.docsOf("test", "rows").map((doc) => doc.made);
    expect(made).to.have.members(Array.from({ length: LAST }, (_, i) => `of ${i + 1}`));
    expect(server.docsOf("test", "checkpoints")[0]).to.include({ block: LAST });
  };

  it("gets every write with a majority's word, and no read but of the primary", async () => {
    const server = await start();
    const store = await open(server);
    await ingest(store, async () => {});
    await store.write([removeWhere(rows, { chainId: 1, block: { gte: 0 } })]);
    const writes = server.commands.filter((each) => "insert" in each || "update" in each || "delete" in each);
    expect(writes.length).to.be.greaterThan(2 * LAST);
    for (const { writeConcern } of writes) expect(writeConcern).to.deep.equal({ w: "majority", j: true });
    const finds = server.commands.filter((each) => "find" in each);
    expect(finds.length).to.be.greaterThan(LAST);
    for (const { readConcern, $readPreference } of finds) {
      expect(readConcern).to.include({ level: "local" });
      expect($readPreference ?? { mode: "primary" }).to.deep.equal({ mode: "primary" });
    }
  });

  it("has all rows though a failover takes back acknowledged writes between two batches", async () => {
    const server = await start();
    const store = await open(server);
    let failedOver = false;
    const starts = await ingest(store, async (block) => {
      if (block !== 20 || failedOver) return;
      failedOver = true;
      await server.watched();
      const { term } = store;
      // Three of the last batch, and half of the one before: its checkpoint, but not its row.
      server.failover(5);
      expect(server.docsOf("test", "checkpoints")[0]).to.include({ block: 17 });
      while (store.term === term) await pause(5);
    });
    expect(failedOver).to.equal(true);
    expect(starts, "taken anew, with a new token").to.equal(2);
    expectComplete(server);
  });

  it("has all rows though the primary steps down in the middle of a batch, with what it acknowledged last", async () => {
    const server = await start();
    const store = await open(server);
    let failures = 0;
    const starts = await ingest(store, async (block) => {
      if (block !== 20 || failures > 0) return;
      failures++;
      server.failover(5);
      // More often than the driver tries again by itself.
      for (let i = 0; i < 2; i++) server.failNext({ command: "insert", collection: "rows" });
    });
    expect(failures).to.equal(1);
    expect(starts).to.be.greaterThan(1);
    expectComplete(server);
  });

  it("ends a guarded write at the first step after a failover, and leaves others to their retries", async () => {
    const server = await start();
    const store = await open(server);
    await store.write([put(checkpoints, [{ ...KEY, block: 1 }])]);
    const stepDown = () => {
      for (let i = 0; i < 2; i++) server.failNext({ command: "insert", collection: "rows" });
    };
    const steps = [put(rows, [{ ...KEY, block: 1, made: "a" }]), put(checkpoints, [{ ...KEY, block: 2 }])];
    stepDown();
    const guarded = store.write([requireRow(checkpoints, KEY, { block: 1 }), ...steps]);
    expect(await guarded.catch((error: unknown) => error)).to.be.instanceOf(FailoverError);
    expect(await store.get(checkpoints, KEY)).to.include({ block: 1 });
    stepDown();
    await store.write(steps);
    expect(await store.get(checkpoints, KEY)).to.include({ block: 2 });
  });

  it("has no snapshot of a time that is no longer kept, or before the first checkpoint", async () => {
    const server = await start({ keptVersions: 2 });
    const store = await open(server);
    const take = () => store.snapshot(checkpoints, KEY, (view) => view.count(rows, {}));
    expect(await take()).to.equal(undefined);
    await ingest(store, async () => {});
    expect(await take()).to.deep.equal({ value: LAST });
    for (let i = 0; i < 3; i++) await store.write([put(rows, [{ ...KEY, block: 100 + i, made: "later" }])]);
    expect(await take()).to.equal(undefined);
  });

  it("writes without snapshots to a compatible server that does not know the cluster's time", async () => {
    const server = await start();
    const store = await open(server);
    server.failNext({ command: "update", collection: "_snapshots", code: 17_276 });
    await ingest(store, async () => {});
    expectComplete(server);
    expect(await store.snapshot(checkpoints, KEY, async () => 1)).to.equal(undefined);
  });

  it("fails a write whose time cannot be stored, once times have been: readers would stay at the last one", async () => {
    const server = await start();
    const store = await open(server);
    let failed = false;
    const work = ingest(store, async (block) => {
      if (block !== 5 || failed) return;
      failed = true;
      server.failNext({ command: "update", collection: "_snapshots", code: 17_276 });
    });
    expect(await work.catch((error: unknown) => (error as { code?: number }).code)).to.equal(17_276);
  });

  it("gives views that take no writes, and ends their sessions", async () => {
    const server = await start();
    const store = await open(server);
    await ingest(store, async () => {});
    const failure = await store
      .snapshot(checkpoints, KEY, (view) => view.write([put(checkpoints, [{ ...KEY, block: 0 }])]))
      .catch((error: unknown) => error);
    expect(String(failure)).to.contain("read only");
    expect(await store.get(checkpoints, KEY)).to.include({ block: LAST });
  });

  it("refuses a URL that leads to one member of several, and its own options that weaken writes", async () => {
    const server = await start({ otherMember: "127.0.0.1:1" });
    const failureOf = (option: string) =>
      openMongoStore({ url: `${server.url}&${option}`, database: "test" }).then(
        () => "none",
        (error: unknown) => String(error),
      );
    expect(await failureOf("directConnection=true"))
      .to.contain("directConnection must be absent")
      .and.contain("127.0.0.1:1");
    expect(await failureOf("w=1")).to.contain('the option w must be majority, not "1"');
    const alone = await start();
    const store = await openMongoStore({ url: `${alone.url}&directConnection=true`, database: "test" });
    await store.close();
  });

  it("says that a single server has no snapshots", async () => {
    const server = await start({ standalone: true });
    const store = await open(server);
    await ingest(store, async () => {});
    expectComplete(server);
    expect(await store.snapshot(checkpoints, KEY, async () => 1)).to.equal(undefined);
  });
});

for (const router of [false, true]) {
  describeLong(`store contract: ${router ? "a router of MongoDB" : "a MongoDB replica set"}`, () => {
    const options: SuiteOptions = {
      traits: { shared: true, atomicWrites: false },
      open: async () => {
        const server = await TestMongod.start({ router });
        return {
          connect: () => openMongoStore({ url: server.url, database: "test" }),
          remove: () => server.close(),
        };
      },
    };
    if (router) describeQueries(options);
    describeRaces(options);
    describeWithin(options);
    describeFences(options);
  });
}

describe("a sharded MongoDB", () => {
  it("is told the shard key of each collection, and what it has become since", async () => {
    const server = await TestMongod.start({ router: true });
    const client = new MongoClient(server.url);
    try {
      const store = await openMongoStore({ url: server.url, database: "test" });
      await store.declare([{ ...rows, shardKey: ["chainId"] }]);
      expect(server.commands[0]).to.deep.include({ shardCollection: "test.rows", key: { chainId: 1 } });
      const config = client
        .db("config")
        .collection<{ _id: string; key: Record<string, unknown> }>("collections");
      const declareAgain = async (key: Record<string, unknown>): Promise<void> => {
        await config.replaceOne({ _id: "test.rows" }, { key }, { upsert: true });
        server.failNext({ command: "shardcollection", collection: "test.rows", code: 23 });
        await store.declare([rows]);
      };
      const isRefined = () => server.commands.some((each) => "refineCollectionShardKey" in each);
      for (const key of [
        { chainId: 1, block: 1 },
        { chainId: "hashed" },
        { chainId: 1, block: 1, made: 1 },
      ]) {
        await declareAgain(key);
        expect(isRefined(), `${JSON.stringify(key)} stays`).to.equal(false);
      }
      await declareAgain({ chainId: 1 });
      const refined = server.commands.find((each) => "refineCollectionShardKey" in each);
      expect(refined).to.deep.include({
        refineCollectionShardKey: "test.rows",
        key: { chainId: 1, block: 1 },
      });
      await store.close();
    } finally {
      // Before its server: a client waits half a minute for one that has gone.
      await client.close();
      await server.close();
    }
  });
});
