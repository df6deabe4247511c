import { expect } from "chai";
import { describe, it } from "mocha";
import { createRule } from "./rule.ts";

describe("limit rule", () => {
  it("describes itself as the headers do: quota, and the window in which an empty bucket fills", () => {
    const policyOf = (ratePerSecond: number, burst: number, dailyQuota: number | null = null) =>
      createRule({ ratePerSecond, burst, dailyQuota }).policy;
    expect(policyOf(1, 5)).to.equal('"burst";q=5;w=5');
    expect(policyOf(100, 5, 1_000)).to.equal('"burst";q=5;w=1, "daily";q=1000;w=86400');
    expect(policyOf(0.5, 5)).to.equal('"burst";q=5;w=10');
    expect(createRule({ ratePerSecond: 3, burst: 10, dailyQuota: null }, "refused").policy).to.equal(
      '"refused";q=10;w=4',
    );
  });

  it("is exact to a thousandth of a request per second", () => {
    for (const rate of [0.001, 0.07, 0.29, 1.1, 2.675, 999_999.999, 1_000_000])
      expect(createRule({ ratePerSecond: rate, burst: 1, dailyQuota: null }).drain / 1000).to.equal(rate);
  });

  it("rejects invalid limits, naming the rule and the value", () => {
    const wrong: [number, number, number | null, string][] = [
      [0, 1, null, "rate"],
      [0.0005, 1, null, "0.0005"],
      [1.0005, 1, null, "three decimals"],
      [1_000_001, 1, null, "1000001"],
      [Number.NaN, 1, null, "NaN"],
      [1, 0, null, "burst"],
      [1, 1.5, null, "1.5"],
      [1, 1_000_001, null, "1000001"],
      [1, 1, 0, "daily quota"],
      [1, 1, -5, "-5"],
    ];
    for (const [ratePerSecond, burst, dailyQuota, words] of wrong)
      expect(() => createRule({ ratePerSecond, burst, dailyQuota })).to.throw(RangeError, words);
  });
});
