import { expect } from "chai";
import { describe, it } from "mocha";
import type { BlockRef, LiveHead } from "../grpc/types.ts";
import { until } from "../testkit/fixture.ts";
import { type CurrentHead, HeadFeed } from "./head-feed.ts";

const CHAIN = 8453;
const head = (block: number, fork = "a", version = "1"): CurrentHead => ({
  ...{ block, hash: `${fork}${block}`, time: block, version },
});

function createFeed() {
  const watchers = new Set<(chainId: number) => void>();
  const failures: unknown[] = [];
  const world = {
    current: undefined as CurrentHead | undefined,
    readRecent: async (block: number): Promise<BlockRef[]> => [{ block, hash: world.current?.hash ?? "" }],
    reads: 0,
  };
  const feed = new HeadFeed({
    chainIds: [CHAIN],
    current: () => world.current,
    readRecent: (_chainId, block) => {
      world.reads += 1;
      return world.readRecent(block);
    },
    watch(notify) {
      watchers.add(notify);
      return () => void watchers.delete(notify);
    },
    onFailure: (error) => failures.push(error),
  });
  const notify = () => {
    for (const each of watchers) each(CHAIN);
  };
  const listen = () => {
    const heads: LiveHead[] = [];
    const stop = feed.watch((each) => heads.push(each));
    return { heads, stop, hashes: () => heads.map(({ hash }) => hash) };
  };
  return { world, watchers, failures, notify, listen };
}

describe("HeadFeed", () => {
  it("tells the current head and each later one once, with the blocks before it", async () => {
    const { world, notify, listen } = createFeed();
    world.current = head(1);
    const { heads, hashes } = listen();
    await until(() => heads.length === 1);
    expect(heads[0]).to.deep.equal({ chainId: CHAIN, ...head(1), recent: [{ block: 1, hash: "a1" }] });
    for (let i = 0; i < 3; i += 1) notify();
    world.current = head(1, "b");
    notify();
    await until(() => heads.length === 2);
    world.current = head(1, "b", "2");
    notify();
    await until(() => heads.length === 3);
    expect(hashes()).to.deep.equal(["a1", "b1", "b1"]);
    expect(world.reads, "blocks of the same head are not read again").to.equal(2);
  });

  it("watches its source once, while somebody listens, and tells who comes later the head at once", async () => {
    const { world, watchers, listen } = createFeed();
    world.current = head(7);
    const first = listen();
    await until(() => first.heads.length === 1);
    const second = listen();
    expect(second.hashes()).to.deep.equal(["a7"]);
    expect(watchers.size).to.equal(1);
    first.stop();
    expect(watchers.size).to.equal(1);
    second.stop();
    expect(watchers.size).to.equal(0);
    world.current = head(9);
    const third = listen();
    expect(third.heads, "the head of before is long past").to.deep.equal([]);
    await until(() => third.heads.length === 1);
    expect(third.hashes()).to.deep.equal(["a9"]);
  });

  it("tells no head with blocks of another fork, which was written while they were read", async () => {
    const { world, notify, listen } = createFeed();
    world.current = head(5);
    world.readRecent = async (block) => {
      world.readRecent = async () => [{ block: 5, hash: "b5" }];
      world.current = head(5, "b");
      return [{ block, hash: "b5" }];
    };
    const { heads, hashes } = listen();
    await until(() => world.reads === 1);
    notify();
    await until(() => heads.length === 1);
    expect(hashes()).to.deep.equal(["b5"]);
  });

  it("tells the head at the next notification where its blocks could not be read", async () => {
    const { world, failures, notify, listen } = createFeed();
    world.current = head(5);
    const { readRecent } = world;
    world.readRecent = async () => {
      throw new Error("the store is away");
    };
    const { heads } = listen();
    await until(() => failures.length === 1);
    world.readRecent = readRecent;
    notify();
    await until(() => heads.length === 1);
  });
});
