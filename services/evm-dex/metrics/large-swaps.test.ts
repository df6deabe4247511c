import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { type LargeSwap, largestOf, withSwap } from "./large-swaps.ts";

function swapsOf(values: readonly (number | null)[]): LargeSwap[] {
  return values.map((valueUsd, i) => ({
    valueUsd,
    blockNumber: 100 + (i >> 1),
    logIndex: i,
    time: 1_700_000_000 + i,
    txHash: `0x${i}`,
    zeroForOne: i % 3 === 0,
  }));
}

const anySwaps = fc.array(fc.option(fc.integer({ min: 0, max: 20 })), { maxLength: 60 }).map(swapsOf);

describe("the largest swaps", () => {
  it("are ten, unpriced ones last, the earlier first of equal ones", () => {
    const swaps = swapsOf([1, null, 5, 5, null, 2, 9, 0, 3, 4, 6, 7]);
    expect(largestOf(swaps).map(({ logIndex }) => logIndex)).to.deep.equal([6, 11, 10, 2, 3, 9, 8, 5, 0, 7]);
    expect(largestOf(swaps.slice(0, 5)).map(({ logIndex }) => logIndex)).to.deep.equal([2, 3, 0, 1, 4]);
  });

  it("are the same whether found at once, swap by swap, or among those of the parts", () => {
    fc.assert(
      fc.property(anySwaps, fc.nat(60), (swaps, cut) => {
        const atOnce = largestOf(swaps);
        let oneByOne: readonly LargeSwap[] = [];
        for (const swap of swaps) oneByOne = withSwap(oneByOne, swap);
        expect(oneByOne).to.deep.equal(atOnce);
        const parts = [...largestOf(swaps.slice(cut)), ...largestOf(swaps.slice(0, cut))];
        expect(largestOf(parts)).to.deep.equal(atOnce);
        for (const swap of swaps.filter((each) => !atOnce.includes(each))) {
          expect(withSwap(atOnce, swap), "a smaller one changes nothing").to.equal(atOnce);
        }
      }),
    );
  });
});
