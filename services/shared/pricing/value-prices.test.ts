import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { VALUE_BOUND, type ValuedSide, valuePrices } from "./value-prices.ts";

const side = (amount: number, usd: number | null, supportUsd: number): ValuedSide => ({
  amount,
  usd,
  supportUsd,
});
const MONEY = Number.POSITIVE_INFINITY;

/** USD of both sides together. */
function worth(side0: ValuedSide, side1: ValuedSide, price: number | undefined): number {
  const { usd0, usd1 } = valuePrices(side0, side1, price);
  return side0.amount * (usd0 ?? 0) + side1.amount * (usd1 ?? 0);
}

describe("valuePrices", () => {
  it("are the used prices where they agree and others support them", () => {
    expect(valuePrices(side(10, 3_000, 1e6), side(30_000, 1, MONEY), 3_000)).to.deep.equal({
      usd0: 3_000,
      usd1: 1,
    });
    expect(valuePrices(side(10, 3_000, 1e6), side(30_000, 1, MONEY), undefined)).to.deep.equal({
      usd0: 3_000,
      usd1: 1,
    });
  });

  it("are the used prices of a pool that alone supports its token, since money lies against it", () => {
    expect(valuePrices(side(10, 3_000, 0), side(30_000, 1, MONEY), 3_000)).to.deep.equal({
      usd0: 3_000,
      usd1: 1,
    });
  });

  it("believe the pool where it gives less than a tenth off for the token with less support", () => {
    // A billion dollars a token, says a pool of 20,000 USD; this one gives 1e-14 WETH for it.
    const scam = side(1e12, 1e9, 20_000);
    expect(worth(scam, side(0.01, 3_000, 1e7), 1e-14)).to.be.closeTo(30 + 33, 1e-9);
    expect(worth(side(0.01, 3_000, 1e7), scam, 1e14)).to.be.closeTo(30 + 33, 1e-9);
  });

  it("never lower money because a token beside it is said to be worthless", () => {
    expect(valuePrices(side(1, 0.001, 20_000), side(10_000, 1, MONEY), 10_000).usd1).to.equal(1);
  });

  it("value a balance that lies at no more than what lies against it", () => {
    expect(worth(side(1e40, 1, 0), side(10_000, 1, MONEY), 1)).to.be.closeTo(21_000, 1e-6);
    expect(worth(side(1e40, 1, 15_000), side(0, 1, MONEY), undefined)).to.be.closeTo(15_000, 1e-6);
  });

  it("value two tokens that only tricks price at no more than their support", () => {
    expect(worth(side(1e12, 1e9, 20_000), side(1e12, 1e9, 20_000), 1)).to.be.at.most(
      2 * VALUE_BOUND * 20_000 + 1,
    );
  });

  it("leave an unknown price unknown, and bound the other by its support", () => {
    expect(valuePrices(side(5, null, 0), side(1e6, 2, 30_000), 1)).to.deep.equal({ usd0: null, usd1: 0.03 });
    expect(valuePrices(side(5, null, 0), side(10, 2, 30_000), 1)).to.deep.equal({ usd0: null, usd1: 2 });
  });

  it("are never above the used ones, and no side is worth more than support, or the other side and a tenth", () => {
    const amount = fc.double({ min: 1e-9, max: 1e40, noNaN: true });
    const usd = fc.double({ min: 1e-12, max: 1e12, noNaN: true });
    const support = fc.oneof(fc.constant(MONEY), fc.constant(0), fc.integer({ min: 1, max: 1_000_000_000 }));
    const any = fc.record({ amount, usd, supportUsd: support });
    fc.assert(
      fc.property(any, any, fc.double({ min: 1e-20, max: 1e20, noNaN: true }), (side0, side1, price) => {
        const { usd0, usd1 } = valuePrices(side0, side1, price) as { usd0: number; usd1: number };
        expect(usd0).to.be.at.most(side0.usd);
        expect(usd1).to.be.at.most(side1.usd);
        for (const [own, other, usd] of [
          [side0, side1, usd0],
          [side1, side0, usd1],
        ] as const) {
          const against = Math.min(other.amount * other.usd, other.supportUsd);
          const bound = Math.max(own.supportUsd, VALUE_BOUND * against);
          expect(own.amount * usd).to.be.at.most(bound * (1 + 1e-9));
        }
      }),
    );
  });
});
