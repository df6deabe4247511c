import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { getAmountOut } from "../price/solidly.ts";
import { solidlyPrice } from "./solidly-price.ts";

const decimals = fc.integer({ min: 6, max: 24 });
/** 1 to 10^9 whole tokens. */
const whole = fc.integer({ min: 0, max: 9 }).chain((n) => fc.integer({ min: 10 ** n, max: 10 ** (n + 1) }));
const anyPool = fc
  .record({ whole0: whole, whole1: whole, decimals0: decimals, decimals1: decimals })
  .map(({ whole0, whole1, decimals0, decimals1 }) => ({
    reserve0: BigInt(whole0) * 10n ** BigInt(decimals0),
    reserve1: BigInt(whole1) * 10n ** BigInt(decimals1),
    decimals0,
    decimals1,
    x: whole0,
    y: whole1,
  }));

describe("solidlyPrice", () => {
  it("is the derivative of the curve in whole tokens", () => {
    fc.assert(
      fc.property(anyPool, ({ x, y, ...pool }) => {
        expect(solidlyPrice({ ...pool, stable: false })).to.be.closeTo(y / x, (y / x) * 1e-14);
        const exact = (y * (3 * x * x + y * y)) / (x * (x * x + 3 * y * y));
        expect(solidlyPrice({ ...pool, stable: true })).to.be.closeTo(exact, exact * 1e-14);
      }),
    );
  });

  it("is what a small swap without a fee is paid, on both curves and in both directions", () => {
    const shape = fc.record({
      stable: fc.boolean(),
      permille: fc.bigInt({ min: 700n, max: 1_300n }),
      decimals0: decimals,
      decimals1: decimals,
    });
    fc.assert(
      fc.property(shape, ({ stable, permille, decimals0, decimals1 }) => {
        const pool = {
          ...{ stable, decimals0, decimals1, fee: 0 },
          reserve0: 10n ** 6n * 10n ** BigInt(decimals0),
          reserve1: permille * 10n ** 3n * 10n ** BigInt(decimals1),
        };
        const price = solidlyPrice(pool) as number;
        const paid = (zeroForOne: boolean) => {
          const [decimalsIn, decimalsOut] = zeroForOne ? [decimals0, decimals1] : [decimals1, decimals0];
          const out = getAmountOut(pool, { amountIn: 10n ** BigInt(decimalsIn), zeroForOne }) as bigint;
          return Number(out) / 10 ** decimalsOut;
        };
        // A millionth of the pool moves the price by some millionths.
        expect(paid(true)).to.be.closeTo(price, price * 1e-5);
        expect(paid(false)).to.be.closeTo(1 / price, 1e-5 / price);
      }),
    );
  });

  it("is 1 in the middle of a stable pool, and near it far from the middle", () => {
    const pool = { stable: true, reserve1: 10n ** 24n, decimals0: 6, decimals1: 18 };
    expect(solidlyPrice({ ...pool, reserve0: 10n ** 12n })).to.equal(1);
    expect(solidlyPrice({ ...pool, reserve0: 2n * 10n ** 12n })).to.be.closeTo(13 / 14, 1e-15);
  });

  it("is unknown while a side is empty", () => {
    const pool = { stable: false, decimals0: 18, decimals1: 18 };
    expect(solidlyPrice({ ...pool, reserve0: 0n, reserve1: 5n })).to.equal(undefined);
    expect(solidlyPrice({ ...pool, reserve0: 5n, reserve1: 0n, stable: true })).to.equal(undefined);
  });
});
