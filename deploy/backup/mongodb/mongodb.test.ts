import { appendFile, mkdtemp, readdir, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import { MongoClient } from "mongodb";
import { collection } from "../../../services/shared/storage/collection.ts";
import { acquireLease, type Lease, leases } from "../../../services/shared/storage/lease.ts";
import { openMongoStore } from "../../../services/shared/storage/mongodb/store.ts";
import { put, type Store } from "../../../services/shared/storage/port.ts";
import { TestMongod } from "../../../services/shared/storage/testkit/mongod/server.ts";
import { describeWithProcesses } from "../../../services/shared/testkit/describe.ts";
import { until } from "../../../services/shared/testkit/fixture.ts";
import { BackupError } from "../manifest.ts";
import { dumpMongodb } from "./dump.ts";
import { loadMongodb } from "./load.ts";

const rows = collection({
  name: "rows",
  fields: { block: "int", text: "text", amount: "bigint?", price: "float?", more: "json?" },
  key: ["block"],
  indexes: [{ fields: ["text"] }, { fields: ["amount", "block"], descending: ["amount"] }],
  shardKey: ["block"],
});
const checkpoints = collection({
  name: "checkpoints",
  fields: { chainId: "int", block: "int" },
  key: ["chainId"],
  indexes: [],
  shardKey: ["chainId"],
});
const rowOf = (block: number) => ({
  ...{
    block,
    text: `block ${block}`,
    amount: BigInt(block) ** 20n,
    price: block / 3,
    more: { a: [block, "x", null] },
  },
});

/** What MongoDB lets the role read do, and what needs no right. */
const READS = [
  ...["hello", "ping", "buildInfo", "endSessions", "killCursors"],
  ...["find", "getMore", "listCollections", "listIndexes", "aggregate", "count"],
];

describeWithProcesses("npm run backup and npm run restore: MongoDB", () => {
  const servers: TestMongod[] = [];
  const stores: Store[] = [];
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "backup-mongodb-"));
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    for (const server of servers.splice(0)) await server.close();
    await rm(folder, { recursive: true, force: true });
  });
  async function start(options: Parameters<typeof TestMongod.start>[0] = {}): Promise<TestMongod> {
    const server = await TestMongod.start(options);
    servers.push(server);
    return server;
  }
  async function open({ url }: TestMongod, database = "chaintables_evm_dex"): Promise<Store> {
    const store = await openMongoStore({ url, database });
    stores.push(store);
    await store.declare([rows, checkpoints, leases]);
    return store;
  }
  const writeBlock = (store: Store, block: number) =>
    store.write([put(rows, [rowOf(block)]), put(checkpoints, [{ chainId: 1, block }])]);
  const dump = (server: TestMongod, to = join(folder, "copy")) =>
    dumpMongodb(server.url, { to, version: "test", leaseTtlMs: 400 });
  const refusalOf = (work: Promise<unknown>): Promise<Error> =>
    work.then(
      () => expect.fail("it was accepted"),
      (error: unknown) => error as Error,
    );

  it("give back one state of a replica set, though its ingest writes all the while", async () => {
    const from = await start({ delayMs: 1 });
    const store = await open(from);
    await writeBlock(await open(from, "chaintables_gateway"), 7);
    let block = 0;
    let isOver = false;
    const writing = (async () => {
      while (!isOver) await writeBlock(store, ++block);
    })();
    await until(() => block >= 40);
    const before = block;
    await dump(from);
    await until(() => block > before + 3);
    isOver = true;
    await writing;
    expect(await readdir(join(folder, "copy"))).to.have.members([
      ...["backup.json", "chaintables_evm_dex", "chaintables_gateway"],
    ]);

    const to = await start();
    await loadMongodb(to.url, { from: join(folder, "copy") });
    const again = await open(to);
    const checkpoint = (await again.get(checkpoints, { chainId: 1 }))?.block ?? 0;
    expect(checkpoint).to.be.within(before - 1, block);
    // A write in progress is what a killed ingest leaves: its row is there, its checkpoint is not.
    const found = await again.find(rows, {});
    const expected = Array.from({ length: found.length }, (_, i) => rowOf(i + 1));
    expect(found).to.deep.equal(expected);
    expect(found.length).to.be.within(checkpoint, checkpoint + 1);
    expect(await (await open(to, "chaintables_gateway")).count(rows, {})).to.equal(1);
    const indexesAt = async ({ url }: TestMongod) => {
      const client = new MongoClient(url);
      const all = await client.db("chaintables_evm_dex").collection("rows").listIndexes().toArray();
      await client.close();
      return all.map(({ key, name }) => ({ key, name }));
    };
    expect(await indexesAt(to))
      .to.deep.equal(await indexesAt(from))
      .and.to.have.length(3);
  });

  it("ask only what a user of the role read may", async () => {
    for (const options of [{}, { standalone: true }]) {
      const server = await start(options);
      await writeBlock(await open(server), 1);
      const since = server.commands.length;
      await dump(server, join(folder, `copy-${servers.length}`));
      const asked = new Set(server.commands.slice(since).map((command) => Object.keys(command)[0]));
      expect([...asked]).to.include.members(["find", "listIndexes", "listCollections"]);
      expect([...READS]).to.include.members([...asked]);
    }
  });

  it("are refused beside an ingest of a single server, which has no past states, and done once it has stopped", async () => {
    const server = await start({ standalone: true });
    const store = await open(server);
    await writeBlock(store, 1);
    const lease = (await acquireLease(store, { name: "x", holder: "me", ttlMs: 400 })) as Lease;
    const refused = await refusalOf(dump(server, join(folder, "beside")));
    expect(refused).to.be.instanceOf(BackupError);
    expect(refused.message).to.contain("stop the ingests").and.contain("chaintables_evm_dex");
    expect(await readdir(join(folder, "beside"))).not.to.include("backup.json");
    await lease.release();
    expect((await dump(server)).files.map(({ name }) => name)).to.include("chaintables_evm_dex/rows.bson.gz");
  });

  it("are refused where an ingest has begun to write meanwhile", async () => {
    const server = await start({ standalone: true, delayMs: 20 });
    const store = await open(server);
    await writeBlock(store, 1);
    const since = server.commands.length;
    const dumping = refusalOf(dump(server));
    await until(() => server.commands.slice(since).some(({ find }) => find === "rows"));
    await writeBlock(store, 2);
    expect((await dumping).message).to.contain("stop the ingests");
  });

  it("overwrite nothing, and refuse a backup that was changed, cut short, or made of another engine", async () => {
    const server = await start();
    await writeBlock(await open(server), 1);
    const copy = join(folder, "copy");
    expect((await refusalOf(loadMongodb(server.url, { from: folder }))).message).to.contain(
      "no whole backup",
    );
    await dump(server);
    expect((await refusalOf(dump(server))).message).to.contain("it is not empty");
    expect((await refusalOf(loadMongodb(server.url, { from: copy }))).message).to.contain(
      "nothing is overwritten",
    );
    const file = join(copy, "chaintables_evm_dex", "rows.bson.gz");
    await appendFile(file, "x");
    const empty = await start();
    expect((await refusalOf(loadMongodb(empty.url, { from: copy }))).message).to.contain(
      "not what was backed up",
    );
    await truncate(file, 5);
    expect((await refusalOf(loadMongodb(empty.url, { from: copy }))).message).to.contain(
      "not what was backed up",
    );
    const { restore } = await import("../files.ts");
    const other = await refusalOf(restore(join(folder, "data"), { from: copy }));
    expect(other.message).to.contain("set MONGODB_URL to restore it");
  });
});
