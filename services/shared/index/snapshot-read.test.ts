import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { describe, it } from "mocha";
import { ServiceError } from "../errors.ts";
import { collection } from "../storage/collection.ts";
import { acquireLease, guardedPut, leases } from "../storage/lease.ts";
import { keepsSnapshots } from "../storage/mongodb/snapshot.ts";
import { openMongoStore } from "../storage/mongodb/store.ts";
import { put, type Store } from "../storage/port.ts";
import { openSqliteStore } from "../storage/sqlite/store.ts";
import { TestMongod } from "../storage/testkit/mongod/server.ts";
import { itThorough } from "../testkit/describe.ts";
import { type ConsistentValue, readConsistently, requireConsistent, snapshotsOf } from "./consistent-read.ts";

const HEAD_MS = 20;
const READS = 30;
const ANSWERS = 12;

const checkpoints = collection({
  name: "checkpoints",
  fields: { chainId: "int", block: "int" },
  key: ["chainId"],
  indexes: [],
  shardKey: ["chainId"],
});
/** Documents that each block replaces, as holders and candles are. */
const documents = collection({
  name: "documents",
  fields: { id: "int", block: "int" },
  key: ["id"],
  indexes: [],
  shardKey: ["id"],
});
const KEY = { chainId: 1 };

interface Place {
  /** False for a MongoDB server that is no replica set. */
  readonly hasSnapshots: boolean;
  readonly writer: Store;
  readonly reader: Store;
  close(): Promise<void>;
}

async function openSqlitePlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "snapshots-"));
  const path = join(folder, "store.sqlite");
  const [writer, reader] = [await openSqliteStore({ path }), await openSqliteStore({ path })];
  return {
    writer,
    reader,
    hasSnapshots: true,
    async close() {
      await reader.close();
      await writer.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function openReplicaSet(): Promise<Place> {
  const server = await TestMongod.start({ delayMs: 2 });
  const options = { url: server.url, database: "test" };
  const [writer, reader] = [await openMongoStore(options), await openMongoStore(options)];
  return {
    writer,
    reader,
    hasSnapshots: true,
    async close() {
      await reader.close();
      await writer.close();
      await server.close();
    },
  };
}

/** The real server of a workplace, if it is one that keeps snapshots. */
async function openServer(url: string): Promise<Place> {
  const { MongoClient } = await import("mongodb");
  const client = new MongoClient(url);
  const hello = await client.db("admin").command({ hello: 1 });
  const database = `chaintables_test_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
  const [writer, reader] = [await openMongoStore({ url, database }), await openMongoStore({ url, database })];
  return {
    writer,
    reader,
    hasSnapshots: keepsSnapshots(hello),
    async close() {
      await reader.close();
      await writer.close();
      await client.db(database).dropDatabase();
      await client.close();
    },
  };
}

/** Moves the head every 20 ms, or as fast as the store writes, while `work` runs. Returns how often. */
async function whileHeadsCome(store: Store, work: () => Promise<void>): Promise<number> {
  const lease = await acquireLease(store, { name: "ingest", holder: "test", ttlMs: 60_000 });
  if (lease === undefined) throw new Error("the waiting was ended");
  const guard = () => [lease.guard()];
  let block = 0;
  const writeNext = async (): Promise<void> => {
    block++;
    const all = Array.from({ length: READS }, (_, id) => ({ id, block }));
    await store.write([
      ...guard(),
      // In two steps: MongoDB shows a moment between them.
      put(documents, all.slice(0, READS / 2)),
      put(documents, all.slice(READS / 2)),
      ...guardedPut(guard, checkpoints, { ...KEY, block }),
    ]);
  };
  await writeNext();
  let isOver = false;
  const writing = (async () => {
    while (!isOver) await Promise.all([writeNext(), pause(HEAD_MS)]);
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await writing;
    await lease.release();
  }
  return block;
}

/** The blocks of all documents, one read after the other; each takes some two milliseconds. */
async function readAll(view: Store): Promise<Set<number | undefined>> {
  const blocks = new Set<number | undefined>();
  for (let id = 0; id < READS; id++) {
    blocks.add((await view.get(documents, { id }))?.block);
    await pause(2);
  }
  return blocks;
}

type Checkpoint = { chainId: number; block: number };

/** A server without snapshots: reads of the store itself, which run out of tries while heads come, and say so. */
async function expectFallback({ reader, writer }: Place): Promise<void> {
  await whileHeadsCome(writer, async () => {
    expect(await reader.snapshot(checkpoints, KEY, readAll)).to.equal(undefined);
    const query = queryOf(reader, { inSnapshot: true });
    const found = await readConsistently(query);
    expect(found?.isConsistent, "heads came faster than the reads").to.equal(false);
    const refused = await requireConsistent(query).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(ServiceError).and.have.property("code", "unavailable");
  });
  const { checkpoint, value } = (await requireConsistent(queryOf(reader, { inSnapshot: true }))) ?? {};
  expect([...(value ?? [])], "once heads have stopped").to.deep.equal([checkpoint?.block]);
}

function queryOf(store: Store, { inSnapshot }: { inSnapshot: boolean }) {
  return {
    getCheckpoint: (view = store) => view.get(checkpoints, KEY),
    hasData: (checkpoint: Checkpoint | undefined): checkpoint is Checkpoint => checkpoint !== undefined,
    read: (_: Checkpoint, view = store) => readAll(view),
    isSameState: (before: Checkpoint, after: Checkpoint | undefined) => after?.block === before.block,
    maxAttempts: 2,
    ...(inSnapshot && { snapshots: snapshotsOf(store, checkpoints, KEY) }),
  };
}

const url = process.env.MONGODB_URL;
const open: Record<string, (() => Promise<Place>) | undefined> = {
  "an SQLite file": openSqlitePlace,
  "a MongoDB replica set": openReplicaSet,
  "the MongoDB of MONGODB_URL": url === undefined ? undefined : () => openServer(url),
};

for (const [name, openPlace] of Object.entries(open)) {
  describe(`thirty reads of ${name} while a head comes every 20 ms`, function () {
    this.timeout(60_000);

    if (openPlace === undefined) {
      it("pending: MONGODB_URL is not set, so there is no server to run against", function () {
        this.skip();
      });
      return;
    }

    itThorough(
      "always answer, of one block; without snapshots they answer or say that they cannot",
      async () => {
        const place = await openPlace();
        try {
          for (const store of [place.writer, place.reader])
            await store.declare([checkpoints, documents, leases]);
          if (!place.hasSnapshots) return await expectFallback(place);
          const found: ConsistentValue<Checkpoint, Set<number | undefined>>[] = [];
          let plain: ConsistentValue<Checkpoint, Set<number | undefined>> | undefined;
          const heads = await whileHeadsCome(place.writer, async () => {
            plain = await readConsistently(queryOf(place.reader, { inSnapshot: false }));
            for (let i = 0; i < ANSWERS; i++) {
              const one = await readConsistently(queryOf(place.reader, { inSnapshot: true }));
              if (one !== undefined) found.push(one);
            }
            // At once, as requests come.
            const query = queryOf(place.reader, { inSnapshot: true });
            for (const one of await Promise.all(
              Array.from({ length: ANSWERS }, () => requireConsistent(query)),
            ))
              if (one !== undefined) found.push({ ...one, isConsistent: true });
          });
          expect(plain?.isConsistent, "without a snapshot it would run out of tries").to.equal(false);
          expect(found).to.have.length(2 * ANSWERS);
          for (const { checkpoint, value, isConsistent } of found) {
            expect(isConsistent).to.equal(true);
            expect([...value]).to.deep.equal([checkpoint.block]);
          }
          const blocks = found.slice(0, ANSWERS).map(({ checkpoint }) => checkpoint.block);
          expect(new Set(blocks).size, "each of a later head").to.equal(ANSWERS);
          expect(blocks).to.deep.equal([...blocks].sort((a, b) => a - b));
          expect(heads).to.be.greaterThan(ANSWERS);
        } finally {
          await place.close();
        }
      },
    );
  });
}
