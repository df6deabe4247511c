import { chmod, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { ConfigError } from "../settings/env.ts";
import { describeWithProcesses } from "../testkit/describe.ts";
import { runProgram } from "../testkit/process.ts";
import { openMongoStore } from "./mongodb/store.ts";
import { openStore } from "./open.ts";
import { type Access, put, type Store } from "./port.ts";
import { TestMongod } from "./testkit/mongod/server.ts";
import { notes } from "./testkit/notes.ts";

const later = { ...notes, fields: { ...notes.fields, more: "text?" } } as const;

const refusalOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.fail("it was accepted"),
    (error: unknown) => error as Error,
  );

async function requireReadOnly(store: Store): Promise<void> {
  expect(store.isReadOnly).to.equal(true);
  await store.declare([notes]);
  expect(await store.find(notes, {})).to.deep.equal([{ id: 1, text: "one" }]);
  const refused = await refusalOf(store.write([put(notes, [{ id: 2, text: "two" }])]));
  expect(refused.message).to.match(/may only read|readonly database/);
  const declared = await refusalOf(store.declare([later]));
  expect(declared.message).to.contain('"notes"').and.contain("Start the ingest of this version first");
}

describe("a store that a process may only read: MongoDB", () => {
  const servers: TestMongod[] = [];
  const stores: Store[] = [];
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    for (const server of servers.splice(0)) await server.close();
  });
  async function startServer(role: "read" | "readWrite"): Promise<TestMongod> {
    const server = await TestMongod.start({ role });
    servers.push(server);
    return server;
  }
  /** The rows of an ingest, then a server at which everybody has this role. */
  async function open(role: "read" | "readWrite", access: Access): Promise<Store> {
    const server = await startServer(role);
    const store = await openMongoStore({ url: server.url, database: "test", access });
    stores.push(store);
    return store;
  }

  it("is opened for writing by a user of the role readWrite, whatever was asked for but reading", async () => {
    for (const access of ["write", "either"] as const) {
      const store = await open("readWrite", access);
      expect(store.isReadOnly).to.equal(false);
      await store.declare([notes]);
      await store.write([put(notes, [{ id: 1, text: "one" }])]);
    }
    expect((await open("readWrite", "read")).isReadOnly).to.equal(true);
  });

  it("is read by a service whose user has the role read", async () => {
    const server = await startServer("readWrite");
    const ingest = await openMongoStore({ url: server.url, database: "test" });
    stores.push(ingest);
    await ingest.declare([notes]);
    await ingest.write([put(notes, [{ id: 1, text: "one" }])]);
    server.role = "read";
    const service = await openMongoStore({ url: server.url, database: "test", access: "either" });
    stores.push(service);
    await requireReadOnly(service);
    expect(server.commands.at(-1)).not.to.have.property("createIndexes");
  });

  it("is refused to an ingest, with the role that its user needs", async () => {
    const refused = await refusalOf(open("read", "write"));
    expect(refused).to.be.instanceOf(ConfigError);
    expect(refused.message).to.contain("may only read test").and.contain("the role readWrite");
  });
});

describeWithProcesses("a store that a process may only read: SQLite", () => {
  let folder: string;
  let dataDir: string;
  let writer: Store;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "read-only-"));
    dataDir = join(folder, "data");
    await mkdir(dataDir);
    writer = await openStore({ service: "evm-dex", dataDir });
    await writer.declare([notes]);
    await writer.write([put(notes, [{ id: 1, text: "one" }])]);
  });
  afterEach(async () => {
    await writer.close();
    await chmod(dataDir, 0o755);
    await rm(folder, { recursive: true, force: true });
  });
  /** What a process that obeys permissions makes of the store. */
  async function openElsewhere(access: Access, at = dataDir) {
    const { stdout, stderr } = await runProgram("services/shared/storage/testkit/open-store.main.ts", {
      args: [access, at],
      obeysPermissions: true,
    });
    expect(stderr).to.equal("");
    return JSON.parse(stdout);
  }

  /** By a connection of its own: SQLite's driver leaves the statement of a plan open. */
  async function planOf(declared: typeof notes): Promise<string> {
    const store = await openStore({ service: "evm-dex", dataDir, access: "read" });
    await store.declare([declared]);
    const plan = await store.plan(declared, { filter: { text: "two" } });
    await store.close();
    return plan;
  }

  it("is read beside its writer, whose rows are seen as they come", async () => {
    const reader = await openStore({ service: "evm-dex", dataDir, access: "read" });
    try {
      await requireReadOnly(reader);
      await writer.write([put(notes, [{ id: 2, text: "two" }])]);
      expect(await reader.count(notes, {})).to.equal(2);
      const indexed = { ...notes, name: "indexed", indexes: [{ fields: ["text"] }] } as const;
      await writer.declare([indexed]);
      const former = { ...indexed, indexes: [], formerIndexes: indexed.indexes } as const;
      await reader.declare([former]);
      expect(await planOf(indexed), "a former index is the writer's to drop").to.equal("index");
      await writer.declare([former]);
      expect(await planOf(former)).to.equal("scan");
      await reader.declare([former]);
    } finally {
      await reader.close();
    }
  });

  it("is not made by one who only reads, and says so", async () => {
    const dataDir = join(folder, "none");
    const refused = await refusalOf(openStore({ service: "evm-dex", dataDir, access: "read" }));
    expect(refused.message).to.contain("evm-dex.sqlite: there is no such file");
  });

  it("is opened by a service for reading alone where it cannot write the folder, and refused to an ingest", async () => {
    expect(await openElsewhere("either")).to.include({ isReadOnly: false, written: "written" });
    await chmod(dataDir, 0o555);
    const opened = await openElsewhere("either");
    expect(opened).to.include({ isReadOnly: true, rows: 2 });
    expect(opened.written).to.contain("readonly database");
    const refused = await openElsewhere("write");
    expect(refused.name).to.equal("ConfigError");
    expect(refused.refused).to.contain(`DATA_DIR=${dataDir}: permission denied`);
  });

  it("is so where the file alone cannot be written", async () => {
    await chmod(join(dataDir, "evm-dex.sqlite"), 0o444);
    expect(await openElsewhere("either")).to.include({ isReadOnly: true, rows: 1 });
    const { refused } = await openElsewhere("write");
    expect(refused).to.contain(`Cannot write ${join(dataDir, "evm-dex.sqlite")}: permission denied`);
  });

  it("says which right is missing where it cannot be read", async () => {
    await chmod(join(dataDir, "evm-dex.sqlite"), 0);
    expect((await openElsewhere("either")).refused)
      .to.contain("permission denied")
      .and.contain("-wal, -shm");
  });

  it("says what a process that may not write needs where nobody has the store open", async () => {
    // A process that ends leaves no log.
    const alone = join(folder, "alone");
    expect(await openElsewhere("write", alone)).to.include({ written: "written" });
    expect(await readdir(alone)).to.deep.equal(["evm-dex.sqlite"]);
    await chmod(alone, 0o555);
    const { refused } = await openElsewhere("either", alone);
    await chmod(alone, 0o755);
    expect(refused).to.contain("start the ingest").and.contain("npm run backup");
  });
});
