import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { v2Depth, v2Price } from "./price.ts";

const E18 = 10n ** 18n;
const stable = { token0Decimals: 18, token1Decimals: 6, stable: true };
const volatile = { ...stable, stable: false };
const reservesOf = (x: number, y: number) => ({
  reserve0: BigInt(Math.round(x * 1e6)) * 10n ** 12n,
  reserve1: BigInt(Math.round(y * 1e6)),
});

/** The y that keeps x³y + xy³ = k, by bisection. */
function onCurve(x: number, k: number): number {
  let [low, high] = [0, 1e12];
  for (let i = 0; i < 200; i++) {
    const y = (low + high) / 2;
    if (x * y * (x * x + y * y) < k) low = y;
    else high = y;
  }
  return (low + high) / 2;
}

/** The price by swapping a little to and fro. */
function tried(x: number, y: number): number {
  const k = x * y * (x * x + y * y);
  const step = x * 1e-5;
  return (onCurve(x - step, k) - onCurve(x + step, k)) / (2 * step);
}

const large = fc.double({ min: 1e3, max: 1e6, noNaN: true });
const reserve = fc.double({ min: 1, max: 1e6, noNaN: true });

describe("v2Price", () => {
  it("is the ratio of the reserves on the volatile curve, in whole tokens", () => {
    expect(v2Price({ reserve0: 2n * E18, reserve1: 5_000_000n }, volatile)).to.equal(2.5);
  });

  it("is 1 where a stable pool is balanced, and on Solidly's curve where it is not", () => {
    expect(v2Price(reservesOf(1_000, 1_000), stable)).to.equal(1);
    // y = 2x: 2(3 + 4) / (1 + 12).
    expect(v2Price(reservesOf(1_000, 2_000), stable)).to.be.closeTo(14 / 13, 1e-12);
    expect(v2Price(reservesOf(2_000, 1_000), stable)).to.be.closeTo(13 / 14, 1e-12);
  });

  it("is what a small swap on the stable curve gives", () => {
    fc.assert(
      fc.property(reserve, fc.double({ min: 0.01, max: 100, noNaN: true }), (x, ratio) => {
        const { reserve0, reserve1 } = reservesOf(x, x * ratio);
        const [whole0, whole1] = [Number(reserve0) / 1e18, Number(reserve1) / 1e6];
        const expected = tried(whole0, whole1);
        expect(v2Price({ reserve0, reserve1 }, stable)).to.be.closeTo(expected, expected * 1e-4);
      }),
    );
  });

  it("is undefined for an empty side, and a number for any reserves", () => {
    for (const pool of [stable, volatile]) {
      expect(v2Price({ reserve0: 0n, reserve1: 0n }, pool)).to.equal(undefined);
      expect(v2Price({ reserve0: E18, reserve1: 0n }, pool)).to.equal(undefined);
      expect(v2Price({ reserve0: 0n, reserve1: E18 }, pool)).to.equal(undefined);
      for (const [reserve0, reserve1] of [
        [1n, 2n ** 256n],
        [2n ** 256n, 1n],
      ] as const) {
        const depth = v2Depth({ reserve0, reserve1 }, pool);
        expect(v2Price({ reserve0, reserve1 }, pool)).to.be.greaterThan(0);
        expect(Number.isFinite(depth.amount0) && Number.isFinite(depth.amount1)).to.equal(true);
      }
    }
  });
});

describe("v2Depth", () => {
  it("is the reserves of a volatile pool, and of a stable one near balance", () => {
    const held = { amount0: 1_000, amount1: 1_100 };
    expect(v2Depth(reservesOf(1_000, 1_100), volatile)).to.deep.equal(held);
    expect(v2Depth(reservesOf(1_000, 1_100), stable)).to.deep.equal(held);
  });

  it("is less than the plentiful side of a stable pool far off balance, by half at the end", () => {
    const far = v2Depth(reservesOf(1_000_000, 10), stable);
    expect(far.amount0).to.be.closeTo(500_000, 100);
    expect(far.amount1).to.equal(10);
    const other = v2Depth(reservesOf(10, 1_000_000), stable);
    expect(other.amount0).to.equal(10);
    expect(other.amount1).to.be.closeTo(500_000, 100);
  });

  it("never promises more than a swap finds: the price moves as it would on xy = k with these reserves, or less", () => {
    fc.assert(
      fc.property(large, fc.double({ min: 0.001, max: 1_000, noNaN: true }), (x, ratio) => {
        const reserves = reservesOf(x, x * ratio);
        const [whole0, whole1] = [Number(reserves.reserve0) / 1e18, Number(reserves.reserve1) / 1e6];
        const { amount0, amount1 } = v2Depth(reserves, stable);
        expect(amount0).to.be.at.most(whole0);
        expect(amount1).to.be.at.most(whole1);
        const k = whole0 * whole1 * (whole0 * whole0 + whole1 * whole1);
        const step = amount0 * 1e-4;
        const before = v2Price(reserves, stable) as number;
        const after = v2Price(reservesOf(whole0 + step, onCurve(whole0 + step, k)), stable) as number;
        // On xy = k: (x / (x + step))².
        expect(after / before).to.be.at.least((1 / (1 + 1e-4)) ** 2 - 2e-5);
      }),
    );
  });
});
