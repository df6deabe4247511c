import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { until } from "../testkit/fixture.ts";
import { HeadWatcher, type HeadWatcherOptions } from "./head-watcher.ts";

interface TestCheckpoint {
  readonly chainId: number;
  readonly block: number;
  readonly hash: string;
}

const CHAIN_ID = 8453;
const FROM_BLOCK = 100;
/** No poll of the watcher comes in between. */
const ASLEEP = { pollMs: 600_000 };

describe("HeadWatcher", () => {
  let stored: TestCheckpoint | undefined;
  let watcher: HeadWatcher<TestCheckpoint> | undefined;
  beforeEach(() => {
    stored = undefined;
  });
  afterEach(() => watcher?.close());

  const watch = (options: Partial<HeadWatcherOptions<TestCheckpoint>> = {}): HeadWatcher<TestCheckpoint> => {
    watcher = new HeadWatcher({
      read: async () => stored,
      hasData: ({ block }) => block >= FROM_BLOCK,
      chainIds: [CHAIN_ID],
      pollMs: 2,
      ...options,
    });
    return watcher;
  };
  const at = (block: number, branch = 0): TestCheckpoint => ({
    chainId: CHAIN_ID,
    block,
    hash: `${block}/${branch}`,
  });
  const moveTo = (block: number, branch = 0) => {
    stored = at(block, branch);
  };
  const untilAt = (heads: HeadWatcher<TestCheckpoint>, block: number, branch = 0) =>
    until(() => heads.current(CHAIN_ID)?.hash === at(block, branch).hash);

  it("knows no head before the first block, then every one, forwards, sideways and backwards", async () => {
    const heads = watch();
    moveTo(99);
    await until(() => heads.last(CHAIN_ID)?.block === 99);
    expect(heads.current(CHAIN_ID), "the index begins at block 100").to.equal(undefined);
    for (const [block, branch] of [
      [100, 0],
      [200, 0],
      [200, 1],
      [150, 0],
    ] as const) {
      moveTo(block, branch);
      await untilAt(heads, block, branch);
      expect(heads.current(CHAIN_ID)).to.deep.equal(at(block, branch));
    }
    moveTo(99);
    await until(() => heads.current(CHAIN_ID) === undefined);
    expect(heads.current(1), "a chain it does not watch").to.equal(undefined);
  });

  it("returns heads without reading the store", async () => {
    moveTo(200);
    const reads: number[] = [];
    const read = async (chainId: number) => {
      reads.push(chainId);
      return stored;
    };
    const heads = watch({ read, ...ASLEEP });
    await heads.started;
    for (let i = 0; i < 1_000; i++) expect(heads.current(CHAIN_ID)).to.deep.equal(at(200));
    expect(reads).to.deep.equal([CHAIN_ID]);
  });

  it("takes in what reads saw, unless they began before what it knows", async () => {
    moveTo(200);
    const heads = watch(ASLEEP);
    const before = performance.now() - 1_000;
    await untilAt(heads, 200);
    heads.observe(at(201), performance.now());
    expect(heads.current(CHAIN_ID)?.block).to.equal(201);
    heads.observe(at(199), before);
    expect(heads.current(CHAIN_ID)?.block, "a slow read must not take the head back").to.equal(201);
    heads.observe(at(200, 1), performance.now());
    expect(heads.current(CHAIN_ID)?.hash, "a reorg may").to.equal(at(200, 1).hash);
  });

  it("forgets an index that was deleted, at once", async () => {
    moveTo(200);
    let isDeleted = false;
    const heads = watch({ read: async () => (isDeleted ? undefined : stored), trustMs: 60_000 });
    await untilAt(heads, 200);
    isDeleted = true;
    await until(() => heads.current(CHAIN_ID) === undefined);
    expect(heads.last(CHAIN_ID)).to.equal(undefined);
    isDeleted = false;
    await untilAt(heads, 200);
  });

  it("forgets the head while the store is silent, says so once, and is back with it", async () => {
    moveTo(200);
    let broken = false;
    const failures: [unknown, number][] = [];
    const read = async () => {
      if (broken) throw new Error("down");
      return stored;
    };
    const heads = watch({ read, trustMs: 40, onFailure: (...failure) => failures.push(failure) });
    await untilAt(heads, 200);
    broken = true;
    await until(() => heads.current(CHAIN_ID) === undefined);
    expect(heads.ageSeconds(CHAIN_ID)).to.be.greaterThan(0.04);
    expect(heads.last(CHAIN_ID), "what was seen last stays known as such").to.deep.equal(at(200));
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
    moveTo(200);
    let hangs = false;
    const heads = watch({
      read: () => (hangs ? new Promise(() => {}) : Promise.resolve(stored)),
      trustMs: 40,
    });
    await untilAt(heads, 200);
    hangs = true;
    await until(() => heads.current(CHAIN_ID) === undefined);
  });

  it("has started once every chain was looked at, also where that failed", async () => {
    const heads = watch({
      chainIds: [1, CHAIN_ID],
      read: async (chainId) => {
        if (chainId === 1) throw new Error("down");
        return at(200);
      },
      ...ASLEEP,
    });
    await heads.started;
    expect([heads.last(1), heads.hasAnswered(1)]).to.deep.equal([undefined, false]);
    expect(heads.hasAnswered(CHAIN_ID)).to.equal(true);
    expect(heads.last(CHAIN_ID)).to.deep.equal(at(200));
  });

  it("reads more often while somebody watches, and calls back after every read", async () => {
    const heads = watch({ pollMs: 30, watchedPollMs: 1 });
    await heads.started;
    let calls = 0;
    const unwatch = heads.watch((chainId) => {
      expect(chainId).to.equal(CHAIN_ID);
      calls += 1;
    });
    moveTo(150);
    await until(() => calls > 5);
    unwatch();
    const before = calls;
    moveTo(151);
    await until(() => heads.current(CHAIN_ID)?.block === 151);
    expect(calls).to.equal(before);
  });
});
