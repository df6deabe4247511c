import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { volatilityOf } from "./volatility.ts";

const UNKNOWN = { priceVolatilityPct: null, meanAdjustedVolatilityPct: null };

/** Mean first, then the sum of squares around it over n − 1. */
function textbook(values: readonly number[]): { mean: number; deviation: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, deviation: Math.sqrt(squares / (values.length - 1)) };
}

function expectNear(actual: number | null, expected: number): void {
  expect(actual).to.be.closeTo(expected, 1e-9 * Math.max(1, expected));
}

describe("volatilityOf", () => {
  it("equals a calculation by hand", () => {
    // Returns ln 2 and −ln 2: mean 0, deviation √(2 ln²2 / 1). Closes 1, 2, 1: mean 4/3, deviation √(1/3).
    const { priceVolatilityPct, meanAdjustedVolatilityPct } = volatilityOf([1, 2, 1]);
    expectNear(priceVolatilityPct, 98.02581434685472);
    expectNear(meanAdjustedVolatilityPct, 43.30127018922193);
  });

  it("equals the textbook's two passes", () => {
    const closes = fc.array(fc.double({ min: 0.5, max: 2, noNaN: true }), { minLength: 3, maxLength: 60 });
    fc.assert(
      fc.property(closes, fc.constantFrom(1e-12, 1, 3000, 1e12), (list, scale) => {
        const scaled = list.map((close) => close * scale);
        const returns = scaled.slice(1).map((close, i) => Math.log(close) - Math.log(scaled[i] as number));
        const actual = volatilityOf(scaled);
        expectNear(actual.priceVolatilityPct, 100 * textbook(returns).deviation);
        const { mean, deviation } = textbook(scaled);
        expectNear(actual.meanAdjustedVolatilityPct, (100 * deviation) / mean);
      }),
    );
  });

  it("is 0 where the price does not change", () => {
    for (const close of [1, 1e-18, 0.1, 2999.99]) {
      expect(volatilityOf(Array(25).fill(close))).to.deep.equal({
        priceVolatilityPct: 0,
        meanAdjustedVolatilityPct: 0,
      });
    }
  });

  it("has no returns' deviation, but one of the closes, where the price grows evenly", () => {
    const { priceVolatilityPct, meanAdjustedVolatilityPct } = volatilityOf([100, 200, 400, 800]);
    expectNear(priceVolatilityPct, 0);
    expect(meanAdjustedVolatilityPct).to.be.greaterThan(80);
  });

  it("is unknown with fewer than 3 closes", () => {
    expect(volatilityOf([])).to.deep.equal(UNKNOWN);
    expect(volatilityOf([3000])).to.deep.equal(UNKNOWN);
    expect(volatilityOf([3000, 3001])).to.deep.equal(UNKNOWN);
    expect(volatilityOf([3000, 3001, 3002])).not.to.deep.equal(UNKNOWN);
  });

  it("is unknown where a close is no price", () => {
    for (const close of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(volatilityOf([1, close, 1, 1])).to.deep.equal(UNKNOWN);
    }
  });

  it("does not depend on the magnitude, even of prices that tokens with 255 decimals have", () => {
    const expected = volatilityOf([1, 2, 1]);
    for (const scale of [1e-290, 1e290]) {
      const actual = volatilityOf([scale, 2 * scale, scale]);
      expectNear(actual.priceVolatilityPct, expected.priceVolatilityPct as number);
      expectNear(actual.meanAdjustedVolatilityPct, expected.meanAdjustedVolatilityPct as number);
    }
  });
});
