import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { poolPrice, powerOfTen, toWholeTokens, virtualReserves } from "./pool-price.ts";

const MIN_SQRT_RATIO = 4_295_128_739n;
const MAX_SQRT_RATIO = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342n;
const RELATIVE_ERROR = 1e-12;

const sqrtPrice = fc.bigInt({ min: MIN_SQRT_RATIO, max: MAX_SQRT_RATIO });
/** Evenly spread over the magnitudes, which a uniform bigint is not. */
const anySqrtPrice = fc.oneof(
  sqrtPrice,
  fc.tuple(sqrtPrice, fc.integer({ min: 0, max: 128 })).map(([value, bits]) => {
    const shifted = value >> BigInt(bits);
    return shifted < MIN_SQRT_RATIO ? MIN_SQRT_RATIO : shifted;
  }),
);
const decimals = fc.integer({ min: 0, max: 36 });

/** A fraction of two positive bigints as a float, exact to 80 bits before rounding. */
function divide(numerator: bigint, denominator: bigint): number {
  const shift = Math.max(0, 80 + denominator.toString(2).length - numerator.toString(2).length);
  return Number((numerator << BigInt(shift)) / denominator) / 2 ** shift;
}

function expectClose(actual: number, expected: number): void {
  expect(Math.abs(actual / expected - 1), `${actual} against ${expected}`).to.be.at.most(RELATIVE_ERROR);
}

describe("poolPrice", () => {
  it("equals the exact fraction", () => {
    fc.assert(
      fc.property(anySqrtPrice, decimals, decimals, (root, decimals0, decimals1) => {
        const exact = divide(root * root * 10n ** BigInt(decimals0), 2n ** 192n * 10n ** BigInt(decimals1));
        expectClose(poolPrice(root, { decimals0, decimals1 }), exact);
      }),
    );
  });

  it("is 3,000 USDC per WETH in either order of the tokens", () => {
    const wethFirst = poolPrice(4_339_505_179_874_779_489_431_521n, { decimals0: 18, decimals1: 6 });
    expectClose(wethFirst, 3000);
    const usdcFirst = poolPrice(1_446_501_726_624_926_496_477_173_928_747_177n, {
      decimals0: 6,
      decimals1: 18,
    });
    expectClose(usdcFirst, 1 / 3000);
  });

  it("is 1 at the root 2^96 with equal decimals, 0 before a pool is initialised", () => {
    expect(poolPrice(2n ** 96n, { decimals0: 18, decimals1: 18 })).to.equal(1);
    expect(poolPrice(2n ** 96n, { decimals0: 6, decimals1: 8 })).to.equal(0.01);
    expect(poolPrice(0n, { decimals0: 18, decimals1: 18 })).to.equal(0);
  });

  it("stays a finite number above 0 for any decimals a token can claim", () => {
    for (const root of [MIN_SQRT_RATIO, MAX_SQRT_RATIO]) {
      for (const [decimals0, decimals1] of [
        [255, 0],
        [0, 255],
      ] as const) {
        const price = poolPrice(root, { decimals0, decimals1 });
        expect(price).to.be.greaterThan(0).and.lessThan(Number.MAX_VALUE);
      }
    }
  });
});

describe("toWholeTokens", () => {
  it("is exact where a float can be", () => {
    expect(toWholeTokens(1_500_000n, 6)).to.equal(1.5);
    expect(toWholeTokens(-250_000_000_000_000_000n, 18)).to.equal(-0.25);
    expect(toWholeTokens(42n, 0)).to.equal(42);
    expect(toWholeTokens(0n, 18)).to.equal(0);
  });

  it("equals the exact fraction", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 255n }), decimals, (raw, places) => {
        expectClose(toWholeTokens(raw, places), divide(raw, 10n ** BigInt(places)));
        expect(toWholeTokens(-raw, places)).to.equal(-toWholeTokens(raw, places));
      }),
    );
  });
});

describe("virtualReserves", () => {
  it("equals L / √P and L × √P", () => {
    fc.assert(
      fc.property(anySqrtPrice, fc.bigInt({ min: 1n, max: 2n ** 128n - 1n }), (root, liquidity) => {
        const { reserve0, reserve1 } = virtualReserves(root, liquidity);
        expectClose(reserve0, divide(liquidity << 96n, root));
        expectClose(reserve1, divide(liquidity * root, 2n ** 96n));
      }),
    );
  });

  it("is nothing without liquidity or before a pool is initialised", () => {
    expect(virtualReserves(2n ** 96n, 0n)).to.deep.equal({ reserve0: 0, reserve1: 0 });
    expect(virtualReserves(0n, 10n ** 18n)).to.deep.equal({ reserve0: 0, reserve1: 0 });
  });
});

describe("powerOfTen", () => {
  it("is what the operator says, for decimals of any token and beyond", () => {
    for (let n = -300; n <= 300; n++) expect(powerOfTen(n), `${n}`).to.equal(10 ** n);
  });
});
