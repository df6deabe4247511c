import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { EMPTY_POSITION } from "./lp-position.ts";
import { earnedBetween, poolPastOf } from "./pool-past.ts";
import { emptyV2Bucket } from "./v2-bucket.ts";

const DAY = 86_400;
const windows = [7, 30].map((days) => ({ start: (40 - days) * DAY, end: 40 * DAY }));
const coverage = { createdAt: 0, indexedFrom: 20 * DAY };
const day = (n: number, growth: bigint, feesUsd = 0) => ({
  ...{ ...emptyV2Bucket(), swapCount: 1, start: n * DAY, growth0: growth, growth1: 2n * growth, feesUsd },
});

describe("poolPastOf", () => {
  it("takes from the index of now what it grew since, today's growth too", () => {
    const days = [day(40, 100n, 1), day(39, 10n, 2), day(33, 3n, 4), day(32, 1n, 8)];
    const past = poolPastOf({ days, index: { index0: 1_000n, index1: 5_000n }, windows, coverage });
    expect(past).to.deep.equal({
      end: { index0: 900n, index1: 4_800n },
      starts: [
        { index0: 887n, index1: 4_774n },
        { index0: 886n, index1: 4_772n },
      ],
      // The days before the one of now; the longer window begins before the index.
      feesUsd: [6, null],
    });
  });
});

describe("earnedBetween", () => {
  const index = (n: bigint) => ({ index0: n, index1: 3n * n });
  const ETHER = 10n ** 18n;

  it("is the growth of the index times the balance, rounded down at either time", () => {
    const position = { ...EMPTY_POSITION, balance: 5n * ETHER, ...index(7n) };
    const earned = earnedBetween({ position, index: index(10n) }, { position, index: index(14n) });
    expect(earned).to.deep.equal({ earned0: 20n, earned1: 60n });
  });

  it("does not depend, but for rounding, on the index that a position without events begins at", () => {
    const amount = fc.bigInt(0n, 10n ** 24n);
    fc.assert(
      fc.property(amount, amount, amount, amount, (balance, anchor, more, most) => {
        const [start, end] = [index(anchor + more), index(anchor + more + most)];
        const earnedFrom = (from: bigint) => {
          const position = { ...EMPTY_POSITION, balance, ...index(from) };
          return earnedBetween({ position, index: start }, { position, index: end });
        };
        const [zero, own] = [earnedFrom(0n), earnedFrom(anchor)];
        expect(Number(zero.earned0 - own.earned0)).to.be.within(-1, 1);
        expect(Number(zero.earned1 - own.earned1)).to.be.within(-1, 1);
      }),
    );
  });
});
