import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { percentMul, RAY, type Rounding, rayDiv, rayMul } from "./ray.ts";

const HALF = RAY / 2n;
const amount = fc.bigInt({ min: 0n, max: 2n ** 128n });
const index = fc.bigInt({ min: RAY, max: 5n * RAY });

describe("aave-v3: rays", () => {
  it("multiplies and rounds as WadRayMath does", () => {
    expect(rayMul(1n, HALF)).to.equal(1n);
    expect(rayMul(1n, HALF - 1n)).to.equal(0n);
    expect(rayMul(3n, HALF, "floor")).to.equal(1n);
    expect(rayMul(3n, HALF, "ceil")).to.equal(2n);
    expect(rayMul(1n, 1n, "ceil")).to.equal(1n);
    expect(rayMul(0n, RAY, "ceil")).to.equal(0n);
    expect(rayMul(2n, 3n * RAY, "ceil")).to.equal(6n);
  });

  it("divides and rounds as WadRayMath does", () => {
    expect(rayDiv(1n, 2n * RAY)).to.equal(1n);
    expect(rayDiv(1n, 2n * RAY, "floor")).to.equal(0n);
    expect(rayDiv(1n, 3n * RAY)).to.equal(0n);
    expect(rayDiv(1n, 3n * RAY, "ceil")).to.equal(1n);
    // Half of an odd divisor is rounded down: 10^27 / 3 has a remainder of 1.
    expect(rayDiv(1n, 3n)).to.equal(RAY / 3n);
  });

  it("takes percentages of two decimals, half up", () => {
    expect(percentMul(10_000n, 1n)).to.equal(1n);
    expect(percentMul(1n, 5_000n)).to.equal(1n);
    expect(percentMul(1n, 4_999n)).to.equal(0n);
  });

  it("floors below, ceils above, and rounds to the nearer", () => {
    fc.assert(
      fc.property(amount, index, (a, b) => {
        const by = (rounding: Rounding) => rayMul(a, b, rounding);
        expect(by("floor") * RAY <= a * b && a * b <= by("ceil") * RAY).to.equal(true);
        expect(by("ceil") - by("floor") <= 1n).to.equal(true);
        const off = by("half-up") * RAY - a * b;
        expect(off <= HALF && -off < HALF).to.equal(true);
      }),
    );
  });

  it("never returns more than was put in, rounding down both ways", () => {
    fc.assert(
      fc.property(amount, index, (a, b) => {
        expect(rayMul(rayDiv(a, b, "floor"), b, "floor") <= a).to.equal(true);
        expect(rayMul(rayDiv(a, b, "ceil"), b, "ceil") >= a).to.equal(true);
      }),
    );
  });
});
