import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { annualYield, type Compounding, compoundInterest, linearInterest } from "./interest.ts";
import { RAY } from "./ray.ts";

const YEAR_S = 31_536_000;
/** So that a second has a rate of one. */
const ONE_A_SECOND = RAY * BigInt(YEAR_S);
const BOTH: readonly Compounding[] = ["binomial", "exponential"];
/** Up to 300 % a year, for up to ten years. */
const rate = fc.bigInt({ min: 0n, max: 3n * RAY });
const seconds = fc.integer({ min: 0, max: 10 * YEAR_S });

describe("aave-v3: interest", () => {
  it("is linear for suppliers", () => {
    expect(linearInterest(RAY / 10n, YEAR_S)).to.equal(RAY + RAY / 10n);
    expect(linearInterest(RAY / 10n, 0)).to.equal(RAY);
    expect(linearInterest(1n, YEAR_S - 1)).to.equal(RAY);
  });

  it("of the binomial kind is exact where it has all terms", () => {
    expect(compoundInterest(ONE_A_SECOND, 1, "binomial")).to.equal(2n * RAY);
    expect(compoundInterest(ONE_A_SECOND, 2, "binomial")).to.equal(4n * RAY);
    expect(compoundInterest(ONE_A_SECOND, 3, "binomial")).to.equal(8n * RAY);
    // The fourth power is missing.
    expect(compoundInterest(ONE_A_SECOND, 4, "binomial")).to.equal(15n * RAY);
  });

  it("of the exponential kind is 1 + x + x²/2 + x³/6", () => {
    expect(compoundInterest(RAY, YEAR_S, "exponential")).to.equal(2_666_666_666_666_666_666_666_666_666n);
    expect(compoundInterest(RAY, 2 * YEAR_S, "exponential")).to.equal(6_333_333_333_333_333_333_333_333_332n);
  });

  it("never shrinks with time or rate, and is never below linear", () => {
    const growth = fc.record({
      kind: fc.constantFrom(...BOTH),
      r: rate,
      s: seconds,
      later: fc.nat(),
      more: fc.bigInt({ min: 0n, max: RAY }),
    });
    fc.assert(
      fc.property(growth, ({ kind, r, s, later, more }) => {
        const grown = compoundInterest(r, s, kind);
        expect(grown >= linearInterest(r, s)).to.equal(true);
        expect(compoundInterest(r, s + later, kind) >= grown).to.equal(true);
        expect(compoundInterest(r + more, s, kind) >= grown).to.equal(true);
      }),
    );
  });

  it("is never above continuous compounding, and near it while little time has passed", () => {
    fc.assert(
      fc.property(fc.constantFrom(...BOTH), rate, seconds, (kind, r, s) => {
        const x = (Number(r) / 1e27) * (s / YEAR_S);
        const grown = Number(compoundInterest(r, s, kind)) / 1e27;
        expect(grown).to.be.at.most(Math.exp(x) * (1 + 1e-12));
        // The next term of the series bounds what is left out. The binomial kind also takes n(n − 1) for n², and loses
        // up to a digit of each power before it is multiplied by as many seconds.
        const lost = kind === "binomial" ? (x * x) / Math.max(1, s) + (s ** 2 + s ** 3) / 1e27 : 0;
        const lacking = (x ** 4 / 24) * Math.exp(x) + lost;
        expect(Math.exp(x) - grown).to.be.at.most(lacking + 1e-12 * Math.exp(x));
      }),
    );
  });
});

describe("aave-v3: yearly yields", () => {
  it("compound every second", () => {
    expect(annualYield(0n)).to.equal(0);
    // (1 + 0.05 / 31,536,000)^31,536,000 − 1
    expect(annualYield(RAY / 20n)).to.be.closeTo(0.05127109633, 1e-11);
    // e − 1 − e / 63,072,000, and far less.
    expect(annualYield(RAY)).to.be.closeTo(1.71828178536, 1e-10);
  });

  it("grow with the rate, between it and continuous compounding", () => {
    fc.assert(
      fc.property(rate, fc.bigInt({ min: 10n ** 15n, max: RAY }), (r, more) => {
        const [x, apy] = [Number(r) / 1e27, annualYield(r)];
        expect(annualYield(r + more)).to.be.greaterThan(apy);
        expect(apy).to.be.within(x * (1 - 1e-12), Math.expm1(x) * (1 + 1e-12));
      }),
    );
  });
});
