import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { until } from "../../shared/host/testkit/fixture.ts";
import { put, type Store } from "../../shared/storage/port.ts";
import { checkpoints } from "../store/collections.ts";
import { CHAIN_ID, checkpointRow, hash, openTestStore, storeWith } from "../test/rows.ts";
import { HeadWatcher, type HeadWatcherOptions } from "./head-watcher.ts";

describe("HeadWatcher", () => {
  let store: Store;
  let watcher: HeadWatcher | undefined;
  beforeEach(async () => {
    store = await openTestStore();
  });
  afterEach(async () => {
    watcher?.close();
    await store.close();
  });

  const watch = (options: Partial<HeadWatcherOptions> = {}): HeadWatcher => {
    watcher = new HeadWatcher({ store, chainIds: [CHAIN_ID], pollMs: 2, ...options });
    return watcher;
  };
  const at = (number: number, branch = 0) =>
    checkpointRow({ blockNumber: number, blockHash: hash(number, branch) });
  const moveTo = (number: number, branch = 0) => store.write([put(checkpoints, [at(number, branch)])]);
  const untilAt = (heads: HeadWatcher, number: number, branch = 0) =>
    until(() => heads.current(CHAIN_ID)?.blockHash === hash(number, branch));
  /** No poll of the watcher comes in between. */
  const ASLEEP = { pollMs: 600_000 };

  it("knows no head before the first block, then every one, forwards, sideways and backwards", async () => {
    const heads = watch();
    await moveTo(99);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(heads.current(CHAIN_ID), "the index begins at block 100").to.equal(undefined);
    for (const [number, branch] of [
      [100, 0],
      [200, 0],
      [200, 1],
      [150, 0],
    ] as const) {
      await moveTo(number, branch);
      await untilAt(heads, number, branch);
      expect(heads.current(CHAIN_ID)).to.deep.equal(at(number, branch));
    }
    await moveTo(99);
    await until(() => heads.current(CHAIN_ID) === undefined);
    expect(heads.current(1), "a chain it does not watch").to.equal(undefined);
  });

  it("reads no more than the checkpoint, and nothing for those who ask it", async () => {
    await moveTo(200);
    let reads = 0;
    const counting = storeWith(store, {
      get(from, key) {
        reads++;
        expect(from.name).to.equal("checkpoints");
        return store.get(from, key);
      },
    });
    const heads = watch({ store: counting, ...ASLEEP });
    await untilAt(heads, 200);
    for (let i = 0; i < 1_000; i++) heads.current(CHAIN_ID);
    expect(reads).to.equal(1);
  });

  it("takes in what reads saw, unless they began before what it knows", async () => {
    await moveTo(200);
    const heads = watch(ASLEEP);
    const before = performance.now() - 1_000;
    await untilAt(heads, 200);
    heads.saw(at(201), performance.now());
    expect(heads.current(CHAIN_ID)?.blockNumber).to.equal(201);
    heads.saw(at(199), before);
    expect(heads.current(CHAIN_ID)?.blockNumber, "a slow read must not take the head back").to.equal(201);
    heads.saw(at(200, 1), performance.now());
    expect(heads.current(CHAIN_ID)?.blockHash, "a reorg may").to.equal(hash(200, 1));
  });

  it("forgets the head while the store is silent, says so once, and is back with it", async () => {
    await moveTo(200);
    let broken = false;
    const failures: [unknown, number][] = [];
    const moody = storeWith(store, {
      get: (from, key) => (broken ? Promise.reject(new Error("down")) : store.get(from, key)),
    });
    const heads = watch({ store: moody, trustMs: 40, onFailure: (...of) => failures.push(of) });
    await untilAt(heads, 200);
    broken = true;
    await until(() => heads.current(CHAIN_ID) === undefined);
    expect(heads.ageSeconds(CHAIN_ID)).to.be.greaterThan(0.04);
    broken = false;
    await untilAt(heads, 200);
    broken = true;
    await until(() => failures.length === 2);
    expect(failures.map(([error, chainId]) => [(error as Error).message, chainId])).to.deep.equal([
      ["down", CHAIN_ID],
      ["down", CHAIN_ID],
    ]);
  });

  it("forgets the head of a store that does not answer at all", async () => {
    await moveTo(200);
    let hangs = false;
    const hanging = storeWith(store, {
      get: (from, key) => (hangs ? new Promise(() => {}) : store.get(from, key)),
    });
    const heads = watch({ store: hanging, trustMs: 40 });
    await untilAt(heads, 200);
    hangs = true;
    await until(() => heads.current(CHAIN_ID) === undefined);
  });
});
