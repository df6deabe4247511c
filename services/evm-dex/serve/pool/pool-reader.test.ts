import { expect } from "chai";
import { beforeEach, describe, it } from "mocha";
import { createMemoryCache } from "../../../shared/cache/memory.ts";
import type { Cache } from "../../../shared/cache/port.ts";
import { ServiceError } from "../../../shared/errors.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { until } from "../../../shared/testkit/fixture.ts";
import { type CheckpointRow, checkpoints, pools } from "../../store/collections.ts";
import { CHAIN_ID, checkpointRow, hash, openTestStore, poolRow } from "../../test/kit/rows.ts";
import { REQUESTED, requestedSet, snapshotKey, writeSnapshot } from "../../views/snapshot.ts";
import type { PoolView } from "../../views/view.ts";
import type { Heads } from "../heads.ts";
import { PoolReader, type PoolReaderDeps } from "./pool-reader.ts";

const POOL = poolRow();
const KEY = { chainId: CHAIN_ID, poolAddress: POOL.poolAddress, family: POOL.family };
const NAME = snapshotKey({ ...KEY, view: "test" });

/** A store that fails on every use. */
const NO_STORE = new Proxy({} as Store, {
  get: (_target, name) => () => {
    throw new Error(`the store was requested: ${String(name)}`);
  },
});

/** A head that the test sets, and that reads may move. */
function headsAt(first: CheckpointRow | undefined): Heads & { head: CheckpointRow | undefined } {
  return {
    head: first,
    current() {
      return this.head;
    },
    observe(checkpoint) {
      this.head = checkpoint;
    },
  };
}

const at = (number: number, branch = 0) =>
  checkpointRow({ blockNumber: number, blockHash: hash(number, branch) });

describe("PoolReader", () => {
  let store: Store;
  let reads: number;
  let sources: string[];
  let view: PoolView<{ block: number; liquidity: bigint }>;
  beforeEach(async () => {
    store = await openTestStore();
    reads = 0;
    sources = [];
    view = {
      name: "test",
      generation: "v3",
      async read(_store, { checkpoint }) {
        reads++;
        return { block: checkpoint.blockNumber, liquidity: 2n ** 100n };
      },
    };
    await store.write([put(pools, [POOL])]);
    await moveTo(200);
  });

  const moveTo = (number: number, branch = 0) => store.write([put(checkpoints, [at(number, branch)])]);
  const open = (deps: Partial<PoolReaderDeps> = {}) =>
    new PoolReader({
      store,
      heads: headsAt(at(200)),
      onRead: ({ source }) => sources.push(source),
      ...deps,
    });
  const keep = (cache: Cache, head: CheckpointRow, block = head.blockNumber) => {
    const row = { block, liquidity: 7n };
    return cache.set(NAME, writeSnapshot({ family: "dexb", row, computedAtMs: Date.now() }, head), {
      ttlMs: 60_000,
    });
  };

  it("reads the store once per block, for any number of requests", async () => {
    const heads = headsAt(at(200));
    const reader = open({ heads });
    const first = await reader.read(view, KEY);
    expect(first).to.deep.equal({ checkpoint: at(200), row: { block: 200, liquidity: 2n ** 100n } });
    expect(await reader.read(view, KEY)).to.deep.equal(first);
    expect([reads, sources]).to.deep.equal([1, ["store", "memory"]]);
    await moveTo(201);
    expect((await reader.read(view, KEY))?.row.block, "not known to have moved yet").to.equal(200);
    heads.head = at(201);
    expect((await reader.read(view, KEY))?.row.block).to.equal(201);
    expect(reads).to.equal(2);
  });

  it("does not read the store for a row in memory", async () => {
    let current = store;
    const switching = new Proxy({} as Store, {
      get(_target, name) {
        const member: unknown = Reflect.get(current, name);
        return typeof member === "function" ? member.bind(current) : member;
      },
    });
    const reader = open({ store: switching });
    const first = await reader.read(view, KEY);
    current = NO_STORE;
    expect(await reader.read(view, KEY)).to.deep.equal(first);
  });

  it("does not read the store for a row of the head in the cache, and the cache once", async () => {
    const cache = createMemoryCache();
    await keep(cache, at(200));
    const reader = open({ store: NO_STORE, cache });
    const expected = { checkpoint: at(200), row: { block: 200, liquidity: 7n } };
    expect(await reader.read(view, KEY)).to.deep.equal(expected);
    await cache.delete([NAME]);
    expect(await reader.read(view, KEY)).to.deep.equal(expected);
    expect(sources).to.deep.equal(["cache", "memory"]);
  });

  it("never serves a block that was replaced, from memory or from the cache", async () => {
    const cache = createMemoryCache();
    const heads = headsAt(at(200));
    const reader = open({ cache, heads });
    await keep(cache, at(200), -1);
    expect((await reader.read(view, KEY))?.row.block).to.equal(-1);
    await moveTo(200, 1);
    heads.head = at(200, 1);
    const found = await reader.read(view, KEY);
    expect([found?.checkpoint.blockHash, found?.row.block]).to.deep.equal([hash(200, 1), 200]);
    // The first branch comes back: what memory held of it is gone, the cache still has it.
    await cache.delete([NAME]);
    await moveTo(200);
    heads.head = at(200);
    expect((await reader.read(view, KEY))?.row.block).to.equal(200);
    expect(reads).to.equal(2);
  });

  it("ignores a snapshot of a block ahead of or behind the head", async () => {
    for (const other of [at(199), at(201)]) {
      const cache = createMemoryCache();
      await keep(cache, other);
      expect((await open({ cache }).read(view, KEY))?.row.liquidity).to.equal(2n ** 100n);
    }
    expect(sources).to.deep.equal(["store", "store"]);
  });

  it("reads from the store where no head is known, and keeps nothing", async () => {
    const cache = createMemoryCache();
    await keep(cache, at(200));
    const blind: Heads = { current: () => undefined, observe: () => {} };
    const reader = open({ cache, heads: blind });
    for (const expected of [1, 2]) {
      await reader.read(view, KEY);
      expect(reads).to.equal(expected);
    }
  });

  it("returns the row of the store's block at the end, and keeps it for that block", async () => {
    const heads = headsAt(at(200));
    const reader = open({ heads });
    const racing: typeof view = {
      name: "test",
      generation: "v3",
      async read(store, { pool, checkpoint }) {
        if (reads === 0) await moveTo(201);
        return view.read(store, { pool, checkpoint });
      },
    };
    const found = await reader.read(racing, KEY);
    expect([found?.checkpoint, found?.row.block]).to.deep.equal([at(201), 201]);
    expect(heads.head, "what the read saw").to.deep.equal(at(201));
    expect((await reader.read(view, KEY))?.row.block).to.equal(201);
    expect(sources).to.deep.equal(["store", "memory"]);
  });

  it("does not evict rows of the head for rows of earlier blocks", async () => {
    const heads = headsAt(at(200));
    const reader = open({ heads: { current: () => heads.head, observe: () => {} } });
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    let begun = false;
    const slow: PoolView = {
      name: "slow",
      generation: "v3",
      async read() {
        begun = true;
        await gate;
        return {};
      },
    };
    const reading = reader.read(slow, KEY);
    await until(() => begun);
    await moveTo(201);
    heads.head = at(201);
    await reader.read(view, KEY);
    // As from a store that is behind for a moment.
    await moveTo(200);
    go();
    expect((await reading)?.checkpoint).to.deep.equal(at(200));
    expect((await reader.read(view, KEY))?.row.block).to.equal(201);
    expect(sources).to.deep.equal(["store", "store", "memory"]);
  });

  it("reads once for simultaneous requests", async () => {
    const reader = open({ heads: { current: () => undefined, observe: () => {} } });
    const found = await Promise.all(Array.from({ length: 50 }, () => reader.read(view, KEY)));
    expect(new Set(found.map((each) => each?.row)).size).to.equal(1);
    expect(reads).to.equal(1);
    expect(sources.filter((source) => source === "joined")).to.have.length(49);
  });

  it("fails all requests that waited for a failed read, and retries for the next", async () => {
    const failing: typeof view = {
      name: "test",
      generation: "v3",
      async read(...query) {
        if (reads++ === 0) throw new ServiceError("unavailable", "not now");
        return view.read(...query);
      },
    };
    const reader = open();
    const all = await Promise.allSettled([1, 2, 3].map(() => reader.read(failing, KEY)));
    expect(all.map(({ status }) => status)).to.deep.equal(["rejected", "rejected", "rejected"]);
    expect((await reader.read(failing, KEY))?.row.block).to.equal(200);
  });

  it("has no pool for another family, however much is known of it", async () => {
    const cache = createMemoryCache();
    await keep(cache, at(200));
    const reader = open({ cache });
    const clones = { ...KEY, family: "clones" };
    expect(await reader.read(view, clones), "cached").to.equal(undefined);
    expect(await reader.read(view, KEY)).not.to.equal(undefined);
    expect(await reader.read(view, clones), "in memory").to.equal(undefined);
    const [theirs, ours] = await Promise.all([open().read(view, clones), open().read(view, KEY)]);
    expect([theirs, ours?.row.block]).to.deep.equal([undefined, 200]);
    const both = open();
    expect((await Promise.all([both.read(view, clones), both.read(view, KEY)])).map(Boolean)).to.deep.equal([
      false,
      true,
    ]);
  });

  it("keeps two views of a pool apart", async () => {
    const reader = open();
    const other: PoolView<{ name: string }> = {
      name: "other",
      generation: "v3",
      read: async () => ({ name: "other" }),
    };
    await reader.read(view, KEY);
    expect((await reader.read(other, KEY))?.row).to.deep.equal({ name: "other" });
    expect((await reader.read(view, KEY))?.row.block).to.equal(200);
  });

  it("reads from the store where the cache has a malformed snapshot, and reports it", async () => {
    const failures: Error[] = [];
    for (const text of ["nonsense", '{"of":"']) {
      const cache = createMemoryCache();
      await cache.set(NAME, text, { ttlMs: 60_000 });
      const reader = open({ cache, onFailure: (error) => failures.push(error) });
      expect((await reader.read(view, KEY))?.row.block).to.equal(200);
    }
    expect(failures).to.have.length(1);
  });

  it("reports requested pools to the ingest, and only existing ones", async () => {
    const cache = createMemoryCache();
    const reader = open({ cache });
    await reader.read(view, { ...KEY, poolAddress: `0x${"99".repeat(20)}` });
    for (let i = 0; i < 20; i++) await reader.read(view, KEY);
    const requested = () => cache.recent(requestedSet(CHAIN_ID), { ttlMs: REQUESTED.ttlMs, limit: 10 });
    await until(async () => (await requested()).length > 0);
    expect(await requested()).to.deep.equal([`${KEY.poolAddress} test`]);
    reader.close();
  });
});
