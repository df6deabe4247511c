import { expect } from "chai";
import { describe, it } from "mocha";
import { dailyVolatility } from "./daily-volatility.ts";

describe("dailyVolatility", () => {
  it("is the sample standard deviation of log returns", () => {
    // Returns ln 2 and −ln 2: mean 0, deviation √(2 ln²2 / 1).
    expect(dailyVolatility([1, 2, 1])).to.be.closeTo(Math.SQRT2 * Math.LN2, 1e-12);
    expect(dailyVolatility([3, 6, 12, 24])).to.be.closeTo(0, 1e-12);
  });

  it("keeps the close before a day without a trade, and needs three closes", () => {
    expect(dailyVolatility([null, 1, null, 2, null])).to.equal(dailyVolatility([1, 1, 2, 2]));
    expect(dailyVolatility([5, null, null])).to.equal(0);
    expect(dailyVolatility([null, null, 5, 6])).to.equal(null);
    expect(dailyVolatility([null, null, null])).to.equal(null);
  });
});
