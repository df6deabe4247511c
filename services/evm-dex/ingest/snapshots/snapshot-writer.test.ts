import { expect } from "chai";
import fc from "fast-check";
import { afterEach, beforeEach, describe, it } from "mocha";
import { createMemoryCache } from "../../../shared/cache/memory.ts";
import type { Cache } from "../../../shared/cache/port.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { storeWith } from "../../../shared/storage/within.ts";
import { readPool } from "../../serve/pool/read-pool.ts";
import { type CheckpointRow, checkpoints, type PoolRow, pools } from "../../store/collections.ts";
import { getCheckpoint } from "../../store/queries.ts";
import { address, CHAIN_ID, hash, openTestStore } from "../../test/kit/rows.ts";
import { blockPlans, growChain, indexBlocks, startCheckpoint } from "../../test/kit/small-chain.ts";
import { supports } from "../../views/index.ts";
import { REQUESTED, readSnapshot, requestedMember, requestedSet, snapshotKey } from "../../views/snapshot.ts";
import { v3PoolView } from "../../views/v3-pool.ts";
import { SnapshotWriter, type SnapshotWriterDeps } from "./snapshot-writer.ts";

const AN_HOUR_MS = 3_600_000;

describe("SnapshotWriter", () => {
  let store: Store;
  let cache: Cache;
  let head: CheckpointRow;
  let all: PoolRow[];
  let clockMs: number;
  const logged: [string, Record<string, unknown>][] = [];
  beforeEach(async () => {
    store = await openTestStore();
    cache = createMemoryCache();
    clockMs = 0;
    logged.length = 0;
    const [plan] = fc.sample(blockPlans(40), { numRuns: 1, seed: 7 });
    const chain = growChain(plan as NonNullable<typeof plan>);
    head = await indexBlocks(store, { chain, checkpoint: startCheckpoint() });
    all = (await store.find(pools, {})).filter((pool) => supports(v3PoolView, pool));
    expect(all.length, "pools of the small chain").to.be.greaterThan(1);
  });
  afterEach(() => store.close());

  const log = {
    debug: (fields: Record<string, unknown>, message: string) => void logged.push([message, fields]),
    warn: (fields: Record<string, unknown>, message: string) => void logged.push([message, fields]),
  } as SnapshotWriterDeps["log"];
  /** As after a head that came long ago, so that there is time. */
  const open = (deps: Partial<SnapshotWriterDeps> = {}) => {
    const writer = new SnapshotWriter({
      store,
      cache,
      log,
      signal: new AbortController().signal,
      now: () => clockMs,
      ...deps,
    });
    clockMs += AN_HOUR_MS;
    return writer;
  };
  const keyOf = (poolAddress: string) => snapshotKey({ chainId: CHAIN_ID, poolAddress, view: "v3" });
  const kept = async (poolAddress: string, at = head) => {
    const text = await cache.get(keyOf(poolAddress));
    return text === undefined ? undefined : readSnapshot(text, at);
  };
  const keptPools = async () => {
    const found = await Promise.all(
      all.map(async (pool) => [pool.poolAddress, await kept(pool.poolAddress)]),
    );
    return found.flatMap(([poolAddress, snapshot]) => (snapshot === undefined ? [] : [poolAddress]));
  };

  it("puts into the cache what serving would read, to the bit", async () => {
    await open().onHead({ checkpoint: head, touched: all });
    for (const { poolAddress, family } of all) {
      const key = { chainId: CHAIN_ID, poolAddress, family };
      const read = await readPool(store, { view: v3PoolView, key });
      const snapshot = await kept(poolAddress);
      expect(snapshot?.row).to.deep.equal(read?.row);
      expect(snapshot?.family).to.equal(family);
    }
    expect(logged.map(([message]) => message)).to.deep.equal(["snapshots"]);
  });

  it("includes requested pools, and skips those without a view", async () => {
    const [first] = all as [PoolRow];
    const members = [
      requestedMember({ poolAddress: address(0xdead), view: "v3" }),
      requestedMember({ poolAddress: first.poolAddress, view: "v3" }),
    ];
    await cache.touch(requestedSet(CHAIN_ID), members, REQUESTED);
    const silent = { ...first, poolAddress: address(0x51e7) };
    await store.write([put(pools, [silent])]);
    await open().onHead({ checkpoint: head, touched: [silent] });
    expect(await keptPools()).to.deep.equal([first.poolAddress]);
    expect(await cache.get(keyOf(silent.poolAddress)), "a pool without an event").to.equal(undefined);
    expect(logged.at(-1)).to.deep.equal([
      "snapshots",
      { block: head.blockNumber, wanted: 3, written: 1, ms: 0 },
    ]);
  });

  it("stops after 200 ms at most, requested pools first", async () => {
    const requested = (all[1] as PoolRow).poolAddress;
    await cache.touch(
      requestedSet(CHAIN_ID),
      [requestedMember({ poolAddress: requested, view: "v3" })],
      REQUESTED,
    );
    const silent = Array.from({ length: 60 }, (_, i) => ({
      ...(all[0] as PoolRow),
      poolAddress: address(0xc000 + i),
    }));
    await store.write([put(pools, silent)]);
    const writer = open({
      now: () => {
        clockMs += 60;
        return clockMs;
      },
    });
    await writer.onHead({ checkpoint: head, touched: silent });
    // Three looks at the clock find time left, each for eight pools.
    const passedOver = logged.filter(([message]) => message === "no snapshot").length;
    expect([passedOver, await keptPools()]).to.deep.equal([23, [requested]]);
    expect(logged.at(-1)?.[1]).to.include({ wanted: 61, written: 1 });
  });

  it("takes a tenth of the time since the last head, and nothing where heads come at once", async () => {
    const writer = open();
    await writer.onHead({ checkpoint: head, touched: [] });
    await writer.onHead({ checkpoint: head, touched: all });
    expect(await keptPools(), "no time has passed").to.deep.equal([]);
    clockMs += 1;
    await writer.onHead({ checkpoint: head, touched: [] });
    expect(await keptPools(), "touched within the hour").to.have.length(all.length);
  });

  it("keeps nothing where the store has moved on meanwhile", async () => {
    const moved = { ...head, blockHash: hash(head.blockNumber, 9) };
    await store.write([put(checkpoints, [moved])]);
    await open().onHead({ checkpoint: head, touched: all });
    for (const { poolAddress } of all) expect(await cache.get(keyOf(poolAddress))).to.equal(undefined);
  });

  it("reads nothing while the cache is away, and survives a store that fails", async () => {
    let reads = 0;
    const counting = storeWith(store, {
      getMany: (...query) => {
        reads++;
        return store.getMany(...query);
      },
    });
    const away: Cache = { ...cache, recent: async () => [], healthy: () => false };
    await open({ store: counting, cache: away }).onHead({ checkpoint: head, touched: all });
    expect(reads).to.equal(0);
    const broken = storeWith(store, { getMany: () => Promise.reject(new Error("down")) });
    await open({ store: broken }).onHead({ checkpoint: head, touched: all });
    expect(logged.at(-1)?.[0]).to.equal("snapshots could not be written");
    expect((await getCheckpoint(store, CHAIN_ID))?.blockHash).to.equal(head.blockHash);
  });

  it("stops with the ingest", async () => {
    await open({ signal: AbortSignal.abort() }).onHead({ checkpoint: head, touched: all });
    expect(await keptPools()).to.deep.equal([]);
  });
});
