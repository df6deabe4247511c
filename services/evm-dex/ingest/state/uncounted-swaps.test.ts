import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { compareTexts } from "../../../shared/storage/row-list.ts";
import { randomRuns } from "../../../shared/testkit/describe.ts";
import { address } from "../../test/kit/rows.ts";
import type { UserSwap } from "./bucket-book.ts";
import { UncountedSwaps } from "./uncounted-swaps.ts";

const anySwap: fc.Arbitrary<UserSwap> = fc.record({
  poolAddress: fc.integer({ min: 1, max: 9 }).map(address),
  user: fc.bigInt({ min: 0n, max: 2n ** 160n - 1n }).map((n) => `0x${n.toString(16).padStart(40, "0")}`),
  time: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  valueUsd: fc.option(fc.double({ noNaN: true })),
  feeUsd: fc.option(fc.double({ noNaN: true })),
  tickTravel: fc.nat(2_000_000),
  closePrice: fc.double({ noNaN: true }),
});

describe("UncountedSwaps", () => {
  it("has each swap as it was added, those of a pool as they came, pools by address", () => {
    const uncounted = new UncountedSwaps();
    fc.assert(
      fc.property(fc.array(anySwap), fc.constantFrom(0, 0, 5_000), (swaps, repeated) => {
        // More than a piece.
        const all = [
          ...swaps,
          ...Array.from({ length: swaps.length && repeated }, (_, i) => swaps[i % swaps.length]),
        ];
        const added = all as UserSwap[];
        for (const [i, swap] of added.entries()) expect(uncounted.add(swap, i)).to.equal(i);
        const taken = uncounted.take();
        expect([taken.count, uncounted.take().count]).to.deep.equal([added.length, 0]);
        const pools = [...new Set(added.map(({ poolAddress }) => poolAddress))].sort(compareTexts);
        const found = [...taken.byPool()];
        expect(found.map(({ poolAddress }) => poolAddress)).to.deep.equal(pools);
        for (const { poolAddress, lastTime, numbers } of found) {
          const own = added.flatMap((swap, i) => (swap.poolAddress === poolAddress ? [i] : []));
          expect([...numbers]).to.deep.equal(own);
          expect(lastTime, "that of the first swap").to.equal(own[0]);
          for (const i of numbers) expect(taken.swapOf(i, poolAddress)).to.deep.equal(added[i]);
        }
        taken.release();
      }),
      { numRuns: randomRuns(40, 8) },
    );
  });

  it("keeps what was taken apart from what is added meanwhile, and uses its memory again after that", () => {
    const uncounted = new UncountedSwaps();
    const swap: UserSwap = {
      ...{ poolAddress: address(1), user: address(2), time: 3, valueUsd: null, feeUsd: 4 },
      ...{ tickTravel: 5, closePrice: 6 },
    };
    uncounted.add(swap, 0);
    const taken = uncounted.take();
    uncounted.add({ ...swap, time: 7 }, 0);
    expect(taken.swapOf(0, swap.poolAddress).time).to.equal(3);
    taken.release();
    const second = uncounted.take();
    uncounted.add({ ...swap, time: 8 }, 0);
    expect([taken, second].map((each) => each.swapOf(0, swap.poolAddress).time)).to.deep.equal([8, 7]);
  });

  it("refuses a user that is no address", () => {
    const swap: UserSwap = {
      ...{ poolAddress: address(1), user: "0xAB", time: 3, valueUsd: 1, feeUsd: 1 },
      ...{ tickTravel: 0, closePrice: 1 },
    };
    expect(() => new UncountedSwaps().add(swap, 0)).to.throw(RangeError, "0xAB");
  });
});
