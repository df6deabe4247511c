import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { describe, it } from "mocha";
import type { Store } from "../../storage/port.ts";
import { KnownFinalBlocks, readFinalBlock } from "./known-final.ts";

/** A store whose rows, and whose outages, the test decides. */
function storeWith(read: (chainId: number) => number | undefined): { store: Store; reads: number[] } {
  const reads: number[] = [];
  const get = async (_collection: unknown, { chainId }: { chainId: number }) => {
    reads.push(chainId);
    const number = read(chainId);
    return number === undefined ? undefined : { chainId, number, hash: "0x", time: 0 };
  };
  return { store: { get } as unknown as Store, reads };
}

describe("final blocks for a status", () => {
  it("are those of the store, or unknown", async () => {
    const { store } = storeWith((chainId) => (chainId === 1 ? 100 : undefined));
    expect([await readFinalBlock(store, 1), await readFinalBlock(store, 8453)]).to.deep.equal([
      100,
      undefined,
    ]);
  });

  it("are remembered without waiting, read again every two seconds, and kept while the store is away", async () => {
    let nowMs = 0;
    let number: number | undefined = 100;
    let isAway = false;
    const { store, reads } = storeWith(() => {
      if (isAway) throw new Error("The store is away");
      return number;
    });
    const known = new KnownFinalBlocks(store, [1], () => nowMs);
    expect(known.last(1)).to.equal(undefined);
    await nextTurn();
    expect(known.last(1)).to.equal(100);
    number = 132;
    nowMs = 1_999;
    known.last(1);
    expect(reads).to.deep.equal([1]);
    nowMs = 2_000;
    expect(known.last(1)).to.equal(100);
    await nextTurn();
    expect(known.last(1)).to.equal(132);
    isAway = true;
    nowMs = 4_000;
    known.last(1);
    await nextTurn();
    expect(known.last(1)).to.equal(132);
    // The index was deleted.
    [isAway, number, nowMs] = [false, undefined, 6_000];
    known.last(1);
    await known.close();
    expect(known.last(1)).to.equal(undefined);
    expect(reads).to.deep.equal([1, 1, 1, 1]);
  });
});
