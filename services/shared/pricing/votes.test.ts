import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { continueDeparture, hasLeft, holdSeconds } from "./departure.ts";
import { roundDepth } from "./round-depth.ts";
import { ageShare, FULL_AGE_SECONDS, heldShare } from "./vote-share.ts";
import { weightedMedian } from "./weighted-median.ts";

const usd = fc.double({ min: 1e-6, max: 1e6, noNaN: true });

describe("weightedMedian", () => {
  it("is the price at half of all weight", () => {
    const votes = (list: readonly (readonly [number, number])[]) =>
      list.map(([usd, weight]) => ({ usd, weight }));
    expect(weightedMedian([])).to.equal(undefined);
    expect(weightedMedian(votes([[5, 0]]))).to.equal(undefined);
    expect(weightedMedian(votes([[5, 1]]))?.usd).to.equal(5);
    expect(
      weightedMedian(
        votes([
          [9, 40],
          [2, 30],
          [3, 30],
        ]),
      )?.usd,
    ).to.equal(3);
    expect(
      weightedMedian(
        votes([
          [9, 61],
          [2, 30],
          [3, 30],
        ]),
      )?.usd,
    ).to.equal(9);
    expect(
      weightedMedian(
        votes([
          [2, 1],
          [3, 1],
        ]),
      )?.usd,
      "the lower of two",
    ).to.equal(2);
  });

  it("stays within the range of the others against any vote of less than half of the weight", () => {
    const others = fc.array(fc.record({ usd, weight: fc.double({ min: 1, max: 1e6, noNaN: true }) }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(others, usd, fc.double({ min: 0, max: 0.999, noNaN: true }), (votes, lie, share) => {
        const weight = share * votes.reduce((sum, vote) => sum + vote.weight, 0);
        const found = weightedMedian([{ usd: lie, weight }, ...votes])?.usd as number;
        const honest = votes.map((vote) => vote.usd);
        expect(found).to.be.within(Math.min(...honest), Math.max(...honest));
      }),
    );
  });
});

describe("ageShare", () => {
  it("grows evenly over 30 days", () => {
    expect([-5, 0, 60, FULL_AGE_SECONDS / 2, FULL_AGE_SECONDS, 1e9].map(ageShare)).to.deep.equal([
      0,
      0,
      60 / 2_592_000,
      0.5,
      1,
      1,
    ]);
  });
});

describe("heldShare", () => {
  const at = (time: number, depth0: number, depth1 = depth0) => ({ time, depth0, depth1 });

  it("is what the thinner side held throughout the last five minutes", () => {
    expect(heldShare([], 1_000)).to.equal(0);
    expect(heldShare([at(0, 100)], 1_000)).to.equal(1);
    expect(heldShare([at(0, 100), at(900, 200)], 1_000)).to.equal(0.5);
    expect(heldShare([at(0, 100), at(900, 100, 400)], 1_000), "the other side").to.equal(0.25);
    expect(heldShare([at(0, 100), at(900, 50)], 1_000), "what was taken away counts no more").to.equal(1);
    expect(heldShare([at(0, 0), at(900, 100)], 1_000)).to.equal(0);
    expect(heldShare([at(0, 100), at(999, 0)], 1_000), "empty").to.equal(0);
  });

  it("is nothing for a pool that had no depth when the window began, until it has held for five minutes", () => {
    expect(heldShare([at(800, 100)], 1_099)).to.equal(0);
    expect(heldShare([at(800, 100)], 1_100)).to.equal(1);
    expect(heldShare([at(0, 1), at(800, 100)], 1_099)).to.equal(0);
    expect(
      heldShare([at(0, 1), at(800, 100)], 1_100),
      "what ended before the window does not count",
    ).to.equal(1);
  });

  it("is rounded down to eighths", () => {
    expect(heldShare([at(0, 99), at(900, 100)], 1_000)).to.equal(0.875);
  });
});

describe("departure of one pool from the others", () => {
  it("is where it moves away from the others and the price in use, and they do not", () => {
    expect(hasLeft({ pool: 2, others: 1, used: 1 })).to.equal(true);
    expect(hasLeft({ pool: 1.009, others: 1, used: 1 }), "within 1 %").to.equal(false);
    expect(hasLeft({ pool: 2, others: 1.99, used: 1 }), "all have moved").to.equal(false);
    expect(hasLeft({ pool: 1, others: 2, used: 1 }), "the others have left").to.equal(false);
    expect(hasLeft({ pool: 1, others: 2, used: 2.1 })).to.equal(true);
  });

  it("asks for a minute for each 1 % of difference, either way", () => {
    expect(holdSeconds(1.01, 1)).to.be.closeTo(60, 1e-9);
    expect(holdSeconds(1, 1.01)).to.be.closeTo(60, 1e-9);
    expect(holdSeconds(2, 1)).to.be.closeTo(69.66 * 60, 1);
    expect(holdSeconds(1e9, 1) / 3_600).to.be.closeTo(34.7, 0.1);
  });

  it("holds from its first price, anew where it goes on by more than 10 %", () => {
    const first = continueDeparture(undefined, 2, 100);
    expect(first).to.deep.equal({ since: 100, usd: 2 });
    expect(continueDeparture(first, 2.19, 200)).to.equal(first);
    expect(continueDeparture(first, 2.21, 200)).to.deep.equal({ since: 200, usd: 2.21 });
    expect(continueDeparture(first, 1.8, 200)).to.deep.equal({ since: 200, usd: 1.8 });
  });
});

describe("roundDepth", () => {
  it("rounds down to three binary digits after the first", () => {
    expect([1, 1.124, 1.125, 10_000, 12_345.67, 0.3].map(roundDepth)).to.deep.equal([
      1, 1, 1.125, 9_216, 12_288, 0.28125,
    ]);
    expect([0, Number.POSITIVE_INFINITY].map(roundDepth)).to.deep.equal([0, Number.POSITIVE_INFINITY]);
  });

  it("takes off less than an eighth, and nothing a second time", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-300, max: 1e300, noNaN: true }), (depth) => {
        const rounded = roundDepth(depth);
        expect(rounded).to.be.within(depth * 0.8888, depth);
        expect(roundDepth(rounded)).to.equal(rounded);
      }),
    );
  });
});
