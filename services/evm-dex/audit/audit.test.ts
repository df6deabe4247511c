import { expect } from "chai";
import { after, afterEach, before, beforeEach, describe, it } from "mocha";
import { DEX_FAMILIES } from "../../../deploy/devnet/plan.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { finalBlocks } from "../../shared/evm/finality/finality.ts";
import { put, remove, type Store } from "../../shared/storage/port.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import { loadDeployments } from "../deployments.ts";
import { Retention, type WrittenBatch } from "../ingest/retention/retention.ts";
import {
  type PoolEventRow,
  type PoolStateRow,
  poolEvents,
  poolStates,
  rollups,
} from "../store/collections.ts";
import { mineBusyBlocks, startTestIngest, type TestIngest } from "../test/kit/harness.ts";
import { openTestStore } from "../test/kit/rows.ts";
import { parseAuditArguments, UsageError } from "./arguments.ts";
import type { AuditOptions } from "./audit.ts";
import { AuditRpc } from "./rpc.ts";
import { createPick, sample } from "./sample.ts";
import { EVERYTHING } from "./scope.ts";
import { auditOnce } from "./testkit.ts";

const CHAIN_ID = 8453;

describeThorough("audit", () => {
  let chain: TestChain;
  let ingest: TestIngest;
  let options: Omit<AuditOptions, "pools" | "seed">;

  before(async () => {
    chain = await createTestChain({ families: DEX_FAMILIES });
    await mineBusyBlocks(chain, { blocks: 60, seed: 3 });
  });
  after(() => chain?.stop());
  beforeEach(async () => {
    ingest = await startTestIngest(chain);
    await ingest.catchUp();
    const deployments = loadDeployments(chain.deploymentsFile)[0];
    options = { store: ingest.store, rpc: new AuditRpc(chain.url), chainId: CHAIN_ID, deployments };
  });
  afterEach(() => ingest.close());

  it("finds no difference in what the ingest wrote, and every value at the node", async () => {
    for (const seed of [1, 2, 3]) {
      const { differences, fields, pools, unavailable } = await auditOnce({ ...options, pools: 100, seed });
      expect(differences).to.deep.equal([]);
      expect(unavailable).to.equal(0);
      expect(pools.length).to.be.greaterThan(3);
      expect(fields.size).to.be.greaterThan(80);
    }
  });

  it("finds no difference after a reorg, and before the index follows it rows of another branch", async () => {
    const own = await createTestChain({ families: DEX_FAMILIES });
    const reorged = await startTestIngest(own);
    try {
      await mineBusyBlocks(own, { blocks: 20, seed: 8 });
      await reorged.catchUp();
      const world = { store: reorged.store, rpc: new AuditRpc(own.url), chainId: CHAIN_ID };
      await own.reorg(6, { transactionsPerBlock: 2, seed: 5 });
      const stale = await auditOnce({ ...world, pools: 100, seed: 1, sampling: EVERYTHING });
      expect(new Set(stale.differences.map(({ field }) => field))).to.include("checkpoints.blockHash");
      expect(new Set(stale.differences.map(({ field }) => field))).to.include("pool_events (row)");
      await reorged.catchUp();
      const clean = await auditOnce({ ...world, pools: 100, seed: 1, sampling: EVERYTHING });
      expect(clean.differences).to.deep.equal([]);
    } finally {
      await reorged.close();
      await own.stop();
    }
  });

  it("finds no difference where rows have gone after their time, and says what it left out", async () => {
    const own = await createTestChain({ families: DEX_FAMILIES });
    const store = await openTestStore();
    const retention = new Retention({
      store,
      guard: () => [],
      chainId: CHAIN_ID,
      rawDays: 2,
      budgetMs: 60_000,
    });
    const afterBatch = async (batch: WrittenBatch) => {
      const { blockHash: hash, blockNumber: number, blockTime: time } = batch.checkpoint;
      await store.write([put(finalBlocks, [{ chainId: CHAIN_ID, number, hash, time }])]);
      await retention.afterBatch(batch);
    };
    const aged = await startTestIngest(own, { store, afterBatch });
    try {
      // Days until the LP positions go too, indexed as they come and then in one go.
      for (const days of [1, 3, 20, 20, 2, 1]) {
        await mineBusyBlocks(own, { blocks: 6, seed: days });
        await own.mine(1, { intervalS: days * 86_400 });
        if (days < 20) await aged.catchUp();
      }
      await mineBusyBlocks(own, { blocks: 12, seed: 9 });
      await aged.catchUp();
      const all = await startTestIngest(own);
      await all.catchUp();
      const [kept, before] = await Promise.all(
        [store, all.store].map((each) => each.count(poolEvents, { chainId: CHAIN_ID })),
      );
      await all.close();
      expect(kept).to.be.lessThan((before as number) / 2);
      const world = { store, rpc: new AuditRpc(own.url), chainId: CHAIN_ID };
      const deployments = loadDeployments(own.deploymentsFile)[0];
      const query = { ...world, deployments, pools: 100, seed: 1, sampling: EVERYTHING };
      const { differences, fields, note } = await auditOnce(query);
      expect(differences).to.deep.equal([]);
      expect(fields.size).to.be.greaterThan(80);
      expect(note).to.match(
        /^Not compared, as they are no longer kept: events and prices before \d{4}-\d\d-\d\d, LP events/,
      );
    } finally {
      await aged.close();
      await store.close();
      await own.stop();
    }
  });

  it("compares again what it read while the head moved, and reports what still differs", async () => {
    const { store } = ingest;
    let moves = 0;
    // Blocks come between the checkpoint and a pool's state, the first times that one is read.
    const getMany = store.getMany.bind(store) as Store["getMany"];
    const moving: Store["getMany"] = async (collection, keys) => {
      if (collection.name === poolStates.name && moves < 3) {
        moves += 1;
        await mineBusyBlocks(chain, { blocks: 2, seed: 40 + moves });
        await ingest.catchUp();
      }
      return getMany(collection, keys);
    };
    Object.assign(store, { getMany: moving });
    const clean = await auditOnce({ ...options, pools: 100, seed: 1 });
    expect(moves).to.equal(3);
    expect(clean.differences).to.deep.equal([]);
    const [row] = await store.find(poolStates, { filter: { chainId: CHAIN_ID }, limit: 1 });
    await store.write([put(poolStates, [{ ...(row as PoolStateRow), lastTime: 7 }])]);
    moves = 0;
    const wrong = await auditOnce({ ...options, pools: 100, seed: 1 });
    expect(wrong.differences.map(({ field }) => field)).to.include("pool_states.lastTime");
  });

  it("needs no node, and then leaves out what only a node has", async () => {
    const alone = await auditOnce({ ...options, rpc: undefined, pools: 100, seed: 1 });
    expect(alone.differences).to.deep.equal([]);
    expect(alone.fields.has("rollups.volumeUsd")).to.equal(true);
    expect(alone.fields.has("pool_events.sender")).to.equal(false);
  });

  it("takes the same sample for the same seed, of the requested size", async () => {
    const poolsOf = async (seed: number) => (await auditOnce({ ...options, pools: 2, seed })).pools;
    const first = await poolsOf(7);
    expect(first).to.have.length(2);
    expect(await poolsOf(7)).to.deep.equal(first);
  });

  it("sees a single swap that is deleted with all that counts it", async () => {
    const { store } = ingest;
    const rows = await store.find(poolEvents, { filter: { chainId: CHAIN_ID, kind: "swap" } });
    const { blockNumber, logIndex, poolAddress } = rows.at(Math.floor(rows.length / 2)) as PoolEventRow;
    await store.write([remove(poolEvents, [{ chainId: CHAIN_ID, blockNumber, logIndex }])]);
    const { differences } = await auditOnce({
      ...options,
      pools: [poolAddress],
      seed: 1,
      checks: new Set(["logs"]),
    });
    expect(differences.map(({ at, field }) => [field, at])).to.deep.include([
      "pool_events (row)",
      `blockNumber ${blockNumber}, logIndex ${logIndex}`,
    ]);
  });

  it("sees a row that no event explains, and a day that is not the sum of its hours", async () => {
    const { store } = ingest;
    const [day] = await store.find(rollups, { filter: { chainId: CHAIN_ID, span: 86_400 } });
    if (day === undefined) throw new Error("Nothing is indexed.");
    await store.write([
      put(rollups, [
        { ...day, volumeUsd: day.volumeUsd + 1 },
        { ...day, start: day.start + 86_400 },
      ]),
    ]);
    const { differences } = await auditOnce({
      ...options,
      rpc: undefined,
      pools: [day.poolAddress],
      seed: 1,
    });
    expect(differences.map(({ field }) => field)).to.have.members(["rollups.volumeUsd", "rollups (row)"]);
  });
});

describe("audit samples", () => {
  it("are distinct, all of them where there are too few", () => {
    const items = Array.from({ length: 50 }, (_, i) => i);
    const chosen = sample(items, { size: 20, pick: createPick(5) });
    expect(new Set(chosen).size).to.equal(20);
    expect(sample(items, { size: 20, pick: createPick(5) })).to.deep.equal(chosen);
    expect(sample(items, { size: 20, pick: createPick(6) })).not.to.deep.equal(chosen);
    expect(sample(items, { size: 99, pick: createPick(5) }).sort((a, b) => a - b)).to.deep.equal(items);
  });
});

describe("audit arguments", () => {
  it("are read, with defaults", () => {
    const neither = { storeOnly: false, plant: false, asJson: false };
    expect(parseAuditArguments(["--chain", "8453"], 77)).to.deep.equal({
      ...{ chain: 8453, pools: 20, seed: 77 },
      ...neither,
    });
    expect(parseAuditArguments(["--seed", "3", "--pools", "5", "--chain", "1"], 0)).to.deep.equal({
      ...{ chain: 1, pools: 5, seed: 3 },
      ...neither,
    });
    expect(parseAuditArguments(["--plant", "--chain", "1"], 0)).to.include({ plant: true, storeOnly: false });
    expect(parseAuditArguments(["--chain", "1", "--store-only"], 0)).to.include({
      plant: false,
      storeOnly: true,
    });
    expect(parseAuditArguments(["--chain", "1", "--json"], 0)).to.include({ asJson: true });
    expect(parseAuditArguments(["--chain", "1", "--help"], 0)).to.equal("help");
  });

  it("are refused by name", () => {
    for (const [args, word] of [
      [[], "--chain"],
      [["--chain", "10"], "--chain"],
      [["--chain", "1", "--chain", "1"], "twice"],
      [["--chain", "1", "--pools", "0"], "--pools"],
      [["--chain", "1", "--pools", "-1"], "--pools"],
      [["--chain", "1", "--pools"], "--pools"],
      [["--chain", "1", "--all", "1"], "--all"],
      [["--chain", "1", "--plant", "--plant"], "twice"],
      [["--chain", "1", "--plant", "--store-only"], "node"],
    ] as const) {
      expect(() => parseAuditArguments(args, 0)).to.throw(UsageError, word);
    }
  });
});
