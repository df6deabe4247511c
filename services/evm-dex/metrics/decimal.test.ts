import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { toDecimal } from "./decimal.ts";

describe("toDecimal", () => {
  it("writes whole tokens without rounding", () => {
    expect(toDecimal(1_500_000n, 6)).to.equal("1.5");
    expect(toDecimal(1n, 18)).to.equal("0.000000000000000001");
    expect(toDecimal(123_000_000n, 6)).to.equal("123");
    expect(toDecimal(0n, 18)).to.equal("0");
    expect(toDecimal(42n, 0)).to.equal("42");
    expect(toDecimal(-(10n ** 17n), 18)).to.equal("-0.1");
  });

  it("loses nothing", () => {
    const raw = fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n });
    fc.assert(
      fc.property(raw, fc.nat(77), (amount, decimals) => {
        const [whole = "", fraction = ""] = toDecimal(amount, decimals).split(".");
        expect(BigInt(whole + fraction.padEnd(decimals, "0"))).to.equal(amount);
        expect(fraction.endsWith("0")).to.equal(false);
      }),
    );
  });
});
