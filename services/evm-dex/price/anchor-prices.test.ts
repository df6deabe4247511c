import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { anchorPrices, atPeg } from "./anchor-prices.ts";
import { EdgeBook } from "./edges.ts";
import { TextNames } from "./names.ts";

const ANCHORS = ["0xa", "0xb", "0xc"];
const MIN_USD = 10_000;

/** Pools between anchors, by [token0, token1, price]. */
function bookOf(...pools: readonly (readonly [number, number, number])[]): EdgeBook {
  const book = new EdgeBook(ANCHORS, {
    minDepthUsd: MIN_USD,
    names: { tokens: new TextNames(), pools: new TextNames() },
  });
  for (const [i, [token0, token1, price]] of pools.entries()) {
    book.set({
      pool: `0x${i}`,
      token0: ANCHORS[token0] as string,
      token1: ANCHORS[token1] as string,
      price,
      depth0: 1e6,
      depth1: 1e6,
      held: 1,
      aged: 1,
      lastTime: 0,
    });
  }
  return book;
}

describe("anchorPrices", () => {
  it("is the feed's where it counts, and 1 near 1", () => {
    const book = bookOf([0, 1, 1], [1, 2, 1], [0, 2, 1]);
    expect(anchorPrices(book, MIN_USD, [0.91, 1.0049, 0.9951])).to.deep.equal([0.91, 1, 1]);
    expect(anchorPrices(book, MIN_USD, [undefined, 1.006])).to.deep.equal([1, 1.006, 1]);
  });

  it("values an anchor without a feed by the others at what their feeds say", () => {
    // a is at 0.91 in both pools, which its own 1 cannot outvote; b has really lost 9 %, by its feed.
    const book = bookOf([0, 1, 1], [0, 2, 0.91], [1, 2, 0.91]);
    expect(anchorPrices(book, MIN_USD, [undefined, 0.91, 1])).to.deep.equal([0.91, 0.91, 1]);
    // Without feeds two that fall together would make the third dearer.
    expect(anchorPrices(book, MIN_USD)).to.deep.equal([1, 1, 1 / 0.91]);
  });

  it("does not depend on the order of feeds, and never changes what a feed says beyond the band", () => {
    const book = bookOf([0, 1, 0.97], [1, 2, 1.02], [0, 2, 1]);
    const usd = fc.double({ min: 0.01, max: 9.99, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.option(usd, { nil: undefined }), { minLength: 3, maxLength: 3 }), (given) => {
        const prices = anchorPrices(book, MIN_USD, given);
        for (const [i, own] of given.entries()) if (own !== undefined) expect(prices[i]).to.equal(atPeg(own));
        for (const price of prices) expect(price).to.be.greaterThan(0);
      }),
    );
  });
});
