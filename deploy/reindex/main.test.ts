import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import {
  entityHistory,
  COLLECTIONS as lending,
  checkpoints as lendingCheckpoints,
} from "../../services/lending/store/collections.ts";
import { reindexes } from "../../services/shared/ingest/reindex.ts";
import { leases } from "../../services/shared/storage/lease.ts";
import { openStore } from "../../services/shared/storage/open.ts";
import { put, type Store } from "../../services/shared/storage/port.ts";
import { openConnection } from "../../services/shared/storage/sqlite/open-connection.ts";
import { readDeclarations } from "../../services/shared/storage/sqlite/read-declarations.ts";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { startProgram } from "../../services/shared/testkit/process.ts";
import { startIngestProcess } from "../../services/shared/testkit/service-process.ts";
import { checkpoints, COLLECTIONS as solanaCollections } from "../../services/solana/store/collections.ts";
import { createTestSolana, type TestSolana } from "../devnet/solana/testkit.ts";
import { countRows, fillChain } from "./test/rows.ts";

const INGEST = new URL("../../services/solana/ingest/main.ts", import.meta.url);
/** What the blocks alone decide, whenever accounts are read. */
const OF_BLOCKS = ["blocks", "block_times", "token_rows", "pool_rows", "supply_rows", "candles"];

/** Who waits judges by its own: the command waits longer than an ingest on a busy machine is silent. */
const LEASE_TTL_MS = "4000";

describeThorough("npm run reindex", () => {
  let dataDir: string;
  const stores: Store[] = [];
  let solana: TestSolana | undefined;

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-reindex-"));
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    await solana?.stop();
    solana = undefined;
    await rm(dataDir, { recursive: true, force: true });
  });

  const start = (...args: string[]) =>
    startProgram("deploy/reindex/main.ts", { env: { DATA_DIR: dataDir, LEASE_TTL_MS }, args });

  async function run(...args: string[]): Promise<{ code: number | null; text: string }> {
    const { exited, lines } = start(...args);
    const { code } = await exited;
    return { code, text: lines.join("\n") };
  }

  async function open(service: "lending" | "solana"): Promise<Store> {
    const store = await openStore({ service, dataDir });
    await store.declare([...(service === "lending" ? lending : solanaCollections), reindexes]);
    stores.push(store);
    return store;
  }

  async function isDeclared(service: "lending" | "solana", name: string): Promise<boolean> {
    const connection = await openConnection({ path: join(dataDir, `${service}.sqlite`), readOnly: true });
    try {
      return readDeclarations(connection).has(name);
    } finally {
      connection.close();
    }
  }

  /** The file and its write-ahead log. */
  async function sizeOfStore(service: string): Promise<number> {
    const files = ["", "-wal"].map((end) => stat(join(dataDir, `${service}.sqlite${end}`)));
    return (await Promise.all(files)).reduce((sum, { size }) => sum + size, 0);
  }

  it("explains itself, and ends with 2 where the call is wrong", async () => {
    const help = await run("--help");
    expect(help).to.include({ code: 0 });
    expect(help.text).to.contain("npm run reindex -- --chain <chain>");
    for (const [args, words] of [
      [[], "--chain is missing"],
      [["--chain", "10"], '--chain is "10": it must be one of 8453, 1, solana'],
      [["--chain", "solana", "--service", "lending"], "lending has no index of chain solana"],
      [["--chain", "1", "--all"], "Unknown option '--all'"],
    ] as const) {
      const { code, text } = await run(...args);
      expect([code, text.includes(words)], text).to.deep.equal([2, true]);
    }
    const none = await run("--chain", "1", "--yes");
    expect(none).to.include({ code: 0 });
    expect(none.text).to.contain(`no index of chain 1 in ${dataDir}`);
  });

  it("needs a confirmation to delete, and is finished by the next one when it is killed", async () => {
    const store = await open("lending");
    await fillChain(store, { collections: lending, chainId: 8453, count: 12_000 });
    await fillChain(store, { collections: lending, chainId: 1, count: 5 });
    const other = await countRows(store, { collections: lending, chainId: 1 });
    const unconfirmed = await run("--chain", "8453");
    expect([unconfirmed.code, unconfirmed.text.includes("add --yes to delete")]).to.deep.equal([2, true]);
    expect(unconfirmed.text).to.match(/12000 {2}unit_history/);
    const killed = start("--chain", "8453", "--yes");
    while ((await store.get(lendingCheckpoints, { chainId: 8453 })) !== undefined) await sleep(1);
    killed.child.kill("SIGKILL");
    await killed.exited;
    expect(await store.count(entityHistory, { chainId: 8453 })).to.be.greaterThan(0);
    expect(await store.count(reindexes, {})).to.equal(1);
    const sizeBefore = await sizeOfStore("lending");
    // Waits for the lease of the killed one.
    const { code, text } = await run("--chain", "8453", "--yes");
    expect(code, text).to.equal(0);
    expect(text).to.contain("this one finishes it").and.contain("lending: deleted.");
    const left = await countRows(store, { collections: lending, chainId: 8453 });
    expect(Object.values(left).every((count) => count === 0)).to.equal(true);
    expect(await countRows(store, { collections: lending, chainId: 1 })).to.deep.equal(other);
    expect(await store.count(reindexes, {})).to.equal(0);
    expect(await sizeOfStore("lending")).to.be.below(sizeBefore / 4);
    expect(await isDeclared("lending", entityHistory.name)).to.equal(true);
    // Nor are they forgotten beside an ingest of another chain, which may be about to write its first row.
    await store.declare([leases]);
    const lease = { name: "lending-ingest-8453", holder: "an ingest", token: 9, expiresAtMs: Date.now() };
    await store.write([put(leases, [lease])]);
    expect(await run("--chain", "1", "--yes")).to.include({ code: 0 });
    expect(Object.values(await countRows(store, { collections: lending }))).to.satisfy((counts: number[]) =>
      counts.every((count) => count === 0),
    );
    expect(await isDeclared("lending", entityHistory.name)).to.equal(true);
  });

  it("gives up a store that this version refuses, at once or where an ingest ran at first", async () => {
    const before = lending.map((each) =>
      each.name === entityHistory.name ? { ...each, contents: "of another version" } : each,
    );
    const store = await openStore({ service: "lending", dataDir });
    stores.push(store);
    await store.declare([...before, reindexes, leases]);
    for (const chainId of [8453, 1]) await fillChain(store, { collections: before, chainId, count: 5 });
    const refusal = () =>
      open("lending").then(
        () => undefined,
        ({ message }: Error) => message,
      );
    expect(await refusal()).to.contain("npm run reindex of each chain in it, then start again");
    const other = await countRows(store, { collections: before, chainId: 1 });
    const first = await run("--chain", "8453", "--yes");
    expect(first.code, first.text).to.equal(0);
    expect(first.text).to.contain("lending: deleted.");
    expect(await store.count(lendingCheckpoints, {})).to.equal(1);
    expect(await countRows(store, { collections: before, chainId: 1 })).to.deep.equal(other);
    expect(await refusal()).to.contain("declaration has changed");

    const lease = { name: "lending-ingest-8453", holder: "an ingest", token: 9, expiresAtMs: Date.now() };
    await store.write([put(leases, [lease])]);
    expect(await run("--chain", "1", "--yes")).to.include({ code: 0 });
    expect(await refusal()).to.contain("declaration has changed");
    await store.write([put(leases, [{ ...lease, expiresAtMs: 0 }])]);
    const renewed = await run("--chain", "1", "--yes");
    expect(renewed.code, renewed.text).to.equal(0);
    expect(renewed.text).to.contain("Another version has made its tables");
    expect(await refusal()).to.equal(undefined);
    expect((await run("--chain", "1", "--yes")).text).to.contain("There is no index of chain 1");
  });

  it("is refused beside an ingest; after it, and after a kill, the ingest makes an equal index", async () => {
    solana = await createTestSolana({ seed: 6, transactions: 4 });
    solana.produce(120);
    const head = solana.chain.head("confirmed");
    const env = {
      SOLANA_RPC: solana.urls.join(),
      START_BLOCK_SOLANA: "0",
      DATA_DIR: dataDir,
      LEASE_TTL_MS: "2000",
    };
    const store = await open("solana");
    const ofBlocks = async () => {
      const rows = await countRows(store, { collections: solanaCollections });
      return OF_BLOCKS.map((name) => rows[name]);
    };
    async function indexToHead(whileRunning: () => Promise<void> = async () => {}): Promise<void> {
      const ingest = startIngestProcess(INGEST, env);
      await ingest.logged("indexing");
      while ((await store.get(checkpoints, { chainId: 0 }))?.slot !== head) await sleep(20);
      await whileRunning();
      await ingest.stop("SIGTERM");
    }

    await indexToHead(async () => {
      const refused = await run("--chain", "solana", "--yes");
      expect([refused.code, refused.text.includes("holds the lease solana-ingest")]).to.deep.equal([1, true]);
    });
    const indexed = await ofBlocks();
    const { code, text } = await run("--chain", "solana", "--yes", "--json");
    expect(code, text).to.equal(0);
    const json = JSON.parse(text.slice(text.indexOf("{")).replace(/\}\n[^}]*$/, "}"));
    expect(json.services[0].deleted.token_rows).to.equal(indexed[2]);
    expect((await ofBlocks()).every((count) => count === 0)).to.equal(true);
    // So that the ingest makes what its version declares.
    expect(await isDeclared("solana", "token_rows")).to.equal(false);
    await indexToHead();
    expect(await ofBlocks()).to.deep.equal(indexed);
    const killed = start("--chain", "solana", "--yes");
    while ((await store.count(reindexes, {})) === 0 && (await ofBlocks())[0] !== 0) await sleep(1);
    killed.child.kill("SIGKILL");
    await killed.exited;
    await indexToHead();
    expect(await ofBlocks()).to.deep.equal(indexed);
    expect(await store.count(reindexes, {})).to.equal(0);
  });
});
