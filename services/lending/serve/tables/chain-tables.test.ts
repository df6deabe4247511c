import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { PriceSource } from "../../../shared/grpc/types.ts";
import { deleteIndex, partsOfIndex } from "../../../shared/ingest/reindex.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { storeWith } from "../../../shared/storage/within.ts";
import type { ChainDeployments } from "../../deployments.ts";
import type { ProtocolId } from "../../protocols/protocol-id.ts";
import { COLLECTIONS } from "../../store/collections.ts";
import { getCheckpoint } from "../../store/queries.ts";
import { CURATORS } from "../../test/answers.ts";
import { address, fakeProtocol, marketRow, vaultRow } from "../../test/fake-protocol.ts";
import { CHAIN_ID, fakeChain, openTestStore, stepsOf, timeOf, writeBlock } from "../../test/stored.ts";
import { ChainTables, type TableEvents } from "./chain-tables.ts";

const USDC = address(1);
const STALE_SECONDS = 600;

/** What is recorded of tables, by name. */
function recordingEvents(): TableEvents & { recorded: [name: string, event: unknown][] } {
  const recorded: [string, unknown][] = [];
  const note = (name: string) => (event: unknown) => void recorded.push([name, event]);
  return {
    recorded,
    built: note("built"),
    rowSkipped: note("rowSkipped"),
    failed: note("failed"),
    pricesChanged: note("pricesChanged"),
  };
}

describe("ChainTables", () => {
  let store: Store;
  let nowMs: number;
  let usd: number;
  let failure: Error | undefined;
  let requested: (number | undefined)[];
  let events: ReturnType<typeof recordingEvents>;
  const open: ChainTables[] = [];
  beforeEach(async () => {
    store = await openTestStore();
    [nowMs, usd, failure, requested] = [10_000, 2, undefined, []];
    events = recordingEvents();
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((tables) => tables.close()));
    await store.close();
  });

  const prices: PriceSource = {
    async getPrices({ tokens, block = 0 }) {
      requested.push(block);
      if (failure !== undefined) throw failure;
      const found = tokens.map((token) => ({
        token,
        usd: token === USDC ? usd : null,
        hops: 0,
        depthUsd: null,
      }));
      return { block, blockTime: timeOf(block), prices: found };
    },
  };
  const openTables = (options: { chain?: ChainDeployments; store?: Store } = {}) => {
    const tables = new ChainTables({
      ...{ store, chain: fakeChain(["morpho-v1"]), prices, curators: CURATORS, events },
      ...{ staleSeconds: STALE_SECONDS, now: () => nowMs },
      ...options,
    });
    open.push(tables);
    return tables;
  };
  /** Looks as the timer does, at what the store has. */
  const look = async (tables: ChainTables) => tables.update(await getCheckpoint(store, CHAIN_ID));
  /** Block, staleness and the USD value of each vault, by symbol. */
  const shown = (tables: ChainTables, protocol: ProtocolId = "morpho-v1") => {
    const current = tables.current(protocol);
    if (current === undefined) return undefined;
    const { tables: lists, version } = current;
    const { vaults: table } = lists;
    const values = Array.from({ length: table.count }, (_, at) => [
      table.cell("symbol", at),
      table.cell("tvlUsd", at),
    ]);
    return {
      block: version.block,
      ...(version.stale && { stale: version.stale }),
      usd: Object.fromEntries(values),
    };
  };
  const vaults = (supplies: Record<string, number>) =>
    Object.entries(supplies).map(([symbol, supply]) => vaultRow({ symbol, supply, address: symbol }));

  it("follows each head, its rows accrued to the head's time and priced at its block", async () => {
    const tables = openTables();
    await look(tables);
    expect([tables.state, shown(tables)]).to.deep.equal(["empty", undefined]);
    await writeBlock(store, { block: 200, units: { one: vaults({ a: 10 }), two: vaults({ b: 20 }) } });
    await look(tables);
    expect(tables.state).to.equal("ready");
    expect(shown(tables)).to.deep.equal({ block: 200, usd: { a: 20, b: 40 } });
    await writeBlock(store, { block: 203, units: { two: vaults({ b: 30, c: 5 }) } });
    await look(tables);
    // Six seconds at half a token, for what was not read anew.
    expect(shown(tables)).to.deep.equal({ block: 203, usd: { a: 26, b: 60, c: 10 } });
    expect(requested).to.deep.equal([200, 203]);
    expect(tables.current("morpho-v1")?.version).to.include({
      block: 203,
      time: timeOf(203),
      fromBlock: 100,
    });
  });

  it("answers nothing of an index that was deleted, and nothing of it in the next one", async () => {
    const tables = openTables();
    await writeBlock(store, { block: 200, units: { one: vaults({ a: 10 }), two: vaults({ b: 20 }) } });
    await look(tables);
    const parts = partsOfIndex(COLLECTIONS, CHAIN_ID);
    await deleteIndex({ store, index: { name: "test", parts }, guard: () => [] });
    await look(tables);
    expect([tables.state, shown(tables), tables.version]).to.deep.equal(["empty", undefined, undefined]);
    // The same version and first block as before.
    await writeBlock(store, { block: 200, units: { three: vaults({ c: 30 }) } });
    await look(tables);
    expect(shown(tables)).to.deep.equal({ block: 200, usd: { c: 60 } });
  });

  it("takes a reorg back with all that it took away", async () => {
    const tables = openTables();
    await writeBlock(store, { block: 200, units: { one: vaults({ a: 10 }) } });
    await writeBlock(store, { block: 201, units: { two: vaults({ b: 20 }) } });
    await look(tables);
    const before = tables.current("morpho-v1")?.version;
    await writeBlock(store, { block: 201, hash: "0xother", gone: ["two"], units: { one: vaults({ a: 7 }) } });
    await look(tables);
    expect(shown(tables)).to.deep.equal({ block: 201, usd: { a: 14 } });
    expect(tables.current("morpho-v1")?.version.blockHash).to.equal("0xother");
    expect(before?.blockHash).to.equal("0x201");
  });

  it("keeps the current tables during a write (on MongoDB entities precede their checkpoint)", async () => {
    const tables = openTables();
    await writeBlock(store, { block: 200, units: { one: vaults({ a: 10 }) } });
    await look(tables);
    const [rows, checkpoint] = await stepsOf(store, { block: 201, units: { one: vaults({ a: 99 }) } });
    await store.write([rows as never]);
    // Another process of the ingest touched the checkpoint: a read is due, but not of the new entities yet.
    const head = await getCheckpoint(store, CHAIN_ID);
    await tables.update({ ...(head as NonNullable<typeof head>), blockHash: "0xmoved" });
    expect(shown(tables)).to.deep.equal({ block: 200, usd: { a: 20 } });
    await store.write([checkpoint as never]);
    nowMs += 100;
    await look(tables);
    expect(shown(tables)).to.deep.equal({ block: 201, usd: { a: 198 } });
  });

  it("answers from the old tables until the new ones are whole, and lets others run meanwhile", async () => {
    let isSlow = false;
    const spin = () => {
      // As if each row took a twentieth of a millisecond.
      const endMs = performance.now() + 0.05;
      while (isSlow && performance.now() < endMs);
    };
    const tables = openTables({ chain: fakeChain(["morpho-v1"], { onRow: spin }) });
    const rows = (supply: number) =>
      Array.from({ length: 200 }, (_, n) => vaultRow({ symbol: `${n}`, address: `${n}`, supply }));
    await writeBlock(store, { block: 200, units: { one: rows(1) } });
    await look(tables);
    await writeBlock(store, { block: 201, units: { one: rows(2) } });
    isSlow = true;
    const building = look(tables);
    const seen: unknown[] = [];
    let isOver = false;
    void building.then(() => {
      isOver = true;
    });
    while (!isOver) {
      await new Promise(setImmediate);
      seen.push(tables.current("morpho-v1")?.version.block);
    }
    expect(seen.length, "turns of the event loop").to.be.greaterThan(3);
    expect(new Set(seen.slice(0, -1))).to.deep.equal(new Set([200]));
    expect(tables.current("morpho-v1")?.version.block).to.equal(201);
    expect(shown(tables)?.usd).to.include({ "0": 4, "199": 4 });
  });

  it("is built of one head although the next ones come while it is built, and then of the last of them", async () => {
    let writes = 0;
    const busy = storeWith(store, {
      async find(from, query) {
        const found = await store.find(from, query);
        if (++writes === 1) await writeBlock(store, { block: 201, units: { two: vaults({ b: 20 }) } });
        return found;
      },
    });
    const tables = openTables({ store: busy });
    await writeBlock(store, { block: 200, units: { one: vaults({ a: 10 }) } });
    const first = look(tables);
    const joined = tables.update(await getCheckpoint(store, CHAIN_ID));
    await Promise.all([first, joined]);
    expect(shown(tables)).to.deep.equal({ block: 201, usd: { a: 22, b: 40 } });
    await look(tables);
    expect(events.recorded.filter(([name]) => name === "built")).to.have.length(1);
  });

  it("prices the same rows anew when prices change on one block, with another tag", async () => {
    const tables = openTables();
    await writeBlock(store, { block: 200, units: { one: vaults({ a: 10 }) } });
    await look(tables);
    const tag = tables.current("morpho-v1")?.version.tag;
    usd = 3;
    nowMs += 1_999;
    await look(tables);
    expect(shown(tables)?.usd, "not requested yet").to.deep.equal({ a: 20 });
    nowMs += 1;
    await look(tables);
    expect(shown(tables)).to.deep.equal({ block: 200, usd: { a: 30 } });
    expect(tables.current("morpho-v1")?.version.tag).not.to.equal(tag);
    expect(requested).to.deep.equal([200, 200]);
  });

  it("keeps the last prices for ten minutes of an outage, then has none, and is fresh again", async () => {
    const tables = openTables();
    await writeBlock(store, { block: 200, units: { one: vaults({ a: 10 }) } });
    await look(tables);
    failure = new Error("gone");
    nowMs += 2_000;
    await look(tables);
    expect(shown(tables)).to.deep.equal({ block: 200, stale: "prices; age=2", usd: { a: 20 } });
    await writeBlock(store, { block: 201 });
    await look(tables);
    expect(shown(tables)).to.deep.equal({ block: 201, stale: "prices; age=2", usd: { a: 22 } });
    nowMs += STALE_SECONDS * 1_000;
    await look(tables);
    expect(shown(tables)).to.deep.equal({ block: 201, stale: "prices; age=602", usd: { a: null } });
    expect(tables.current("morpho-v1")?.tables.vaults.cell("supply", 0)).to.equal(11);
    failure = undefined;
    nowMs += 1_000;
    await look(tables);
    // After a failure prices are requested concurrently; the next update sees the result.
    await new Promise(setImmediate);
    await look(tables);
    expect(shown(tables)).to.deep.equal({ block: 201, usd: { a: 22 } });
  });

  it("shows the other protocols at the new head where one's rows cannot be made, and says so", async () => {
    let isBroken = false;
    const broken = {
      ...fakeProtocol("euler-v2", {
        onRow() {
          if (isBroken) throw new Error("a bug");
        },
      }),
    };
    const chain = fakeChain(["morpho-v1"]);
    const tables = openTables({
      chain: { ...chain, protocols: [{ protocol: broken, deployment: undefined }, ...chain.protocols] },
    });
    const euler = [vaultRow({ protocolId: "euler-v2", symbol: "e", supply: 1, address: "e" })];
    await writeBlock(store, { block: 200, units: { one: vaults({ a: 10 }), two: euler } });
    await look(tables);
    isBroken = true;
    await writeBlock(store, { block: 201 });
    await look(tables);
    expect(shown(tables, "euler-v2")).to.deep.equal({ block: 200, usd: { e: 2 } });
    expect(shown(tables)).to.deep.equal({ block: 201, usd: { a: 22 } });
    const failed = events.recorded.filter(([name]) => name === "failed");
    expect(failed).to.have.length(1);
    expect(failed[0]?.[1]).to.include({ chainId: CHAIN_ID, protocol: "euler-v2" });
    isBroken = false;
    await writeBlock(store, { block: 202 });
    await look(tables);
    expect(shown(tables, "euler-v2")?.block).to.equal(202);
  });

  it("leaves out a row with a non-finite number, and no other", async () => {
    const fake = fakeProtocol("morpho-v1");
    const lossy: typeof fake = {
      ...fake,
      *rows(...args) {
        for (const row of fake.rows(...args)) {
          const isB = row.table === "vault" && row.symbol === "b";
          yield isB ? { ...row, utilizationRate: 0 / 0 } : { ...row, supplyApy: Number.POSITIVE_INFINITY };
        }
      },
    };
    const chain = { ...fakeChain(), protocols: [{ protocol: lossy, deployment: undefined }] };
    const tables = openTables({ chain });
    const rows = [...vaults({ a: 10, b: 20 }), marketRow()];
    await writeBlock(store, { block: 200, units: { one: rows } });
    await look(tables);
    expect(shown(tables)?.usd).to.deep.equal({ a: 20 });
    const lists = tables.current("morpho-v1")?.tables;
    expect(lists?.markets.count).to.equal(1);
    expect(lists?.vaults.cell("supplyApy", 0), "one that may be unknown is").to.equal(null);
    expect(events.recorded.filter(([name]) => name === "rowSkipped")).to.have.length(1);
  });

  it("says where the store fails, and reads it again a second later", async () => {
    await writeBlock(store, { block: 200, units: { one: vaults({ a: 10 }) } });
    let isDown = true;
    const moody = storeWith(store, {
      find: (from, query) => (isDown ? Promise.reject(new Error("down")) : store.find(from, query)),
    });
    const tables = openTables({ store: moody });
    await look(tables);
    expect([tables.state, tables.isSettled, shown(tables)]).to.deep.equal(["loading", true, undefined]);
    expect(events.recorded.map(([name]) => name)).to.deep.equal(["failed"]);
    isDown = false;
    await look(tables);
    expect(shown(tables)).to.equal(undefined);
    nowMs += 1_000;
    await look(tables);
    expect(shown(tables)).to.deep.equal({ block: 200, usd: { a: 20 } });
  });

  it("does nothing more once it is closed", async () => {
    const tables = openTables();
    await writeBlock(store, { block: 200, units: { one: vaults({ a: 10 }) } });
    const building = look(tables);
    await tables.close();
    await building;
    await writeBlock(store, { block: 201 });
    await look(tables);
    expect(shown(tables)?.block).not.to.equal(201);
  });
});
