import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { quantizeUsd } from "../../shared/pricing/quantize.ts";
import { type SwapAmounts, swapFeeUsd, swapValueUsd } from "./usd.ts";

const STEP = 2 ** -20;

describe("quantizeUsd", () => {
  it("gives the nearest multiple of 2^-20, and itself for one", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 2 ** 32, noNaN: true }), (usd) => {
        const quantized = quantizeUsd(usd);
        expect(Number.isInteger(quantized / STEP)).to.equal(true);
        expect(Math.abs(quantized - usd)).to.be.at.most(STEP / 2);
        expect(quantizeUsd(quantized)).to.equal(quantized);
      }),
    );
  });

  it("makes sums below 2^33 equal to the bit in any order and any batches", () => {
    const most = 40;
    const amount = fc.record({
      usd: fc.double({ min: 0, max: 2 ** 33 / most, noNaN: true }),
      rank: fc.nat(),
    });
    const amounts = fc.array(amount, { minLength: 1, maxLength: most });
    fc.assert(
      fc.property(amounts, fc.integer({ min: 1, max: 9 }), (list, batch) => {
        const sumOf = (part: typeof list) => part.reduce((sum, { usd }) => sum + quantizeUsd(usd), 0);
        const shuffled = [...list].sort((a, b) => a.rank - b.rank);
        let inBatches = 0;
        for (let at = 0; at < list.length; at += batch) inBatches += sumOf(shuffled.slice(at, at + batch));
        expect(inBatches).to.equal(sumOf(list));
      }),
    );
  });
});

/** 2 WETH at 3,000 USD in, 5,900 USDC out; and the other way round. */
const WETH_IN: SwapAmounts = { amount0: 2, amount1: -5900, price0Usd: 3000, price1Usd: 1 };
const USDC_IN: SwapAmounts = { amount0: -2, amount1: 6100, price0Usd: 3000, price1Usd: 1 };

describe("swapValueUsd", () => {
  const cases: readonly [string, SwapAmounts, number | null][] = [
    ["both sides, token0 in", WETH_IN, 5950],
    ["both sides, token1 in", USDC_IN, 6050],
    ["token0 alone, in", { ...WETH_IN, price1Usd: null }, 6000],
    ["token0 alone, out", { ...USDC_IN, price1Usd: null }, 6000],
    ["token1 alone, out", { ...WETH_IN, price0Usd: null }, 5900],
    ["token1 alone, in", { ...USDC_IN, price0Usd: null }, 6100],
    ["neither", { ...WETH_IN, price0Usd: null, price1Usd: null }, null],
    ["nothing moved", { amount0: 0, amount1: 0, price0Usd: 3000, price1Usd: 1 }, 0],
    ["more than a float holds", { ...WETH_IN, price0Usd: Number.MAX_VALUE }, null],
  ];
  for (const [name, swap, expected] of cases) {
    it(`${name}: ${expected}`, () => {
      expect(swapValueUsd(swap)).to.equal(expected);
    });
  }
});

describe("swapFeeUsd", () => {
  const FREE = { fee: 3000, protocolShare: 0 };
  const QUARTER = { fee: 3000, protocolShare: 1 / 4 };
  const FIFTH = { fee: 3000, protocolShare: 1 / 5 };
  const cases: readonly [string, SwapAmounts, { fee: number; protocolShare: number }, number | null][] = [
    ["0.3 % of 6,000 in token0", WETH_IN, FREE, 18],
    ["0.3 % of 6,100 in token1", USDC_IN, FREE, 18.3],
    ["less a quarter on token0", WETH_IN, QUARTER, 13.5],
    ["less a fifth on token1", USDC_IN, FIFTH, 14.64],
    ["only the token in is priced: token0", { ...WETH_IN, price1Usd: null }, QUARTER, 13.5],
    ["only the token in is priced: token1", { ...USDC_IN, price0Usd: null }, FIFTH, 14.64],
    ["only the token out is priced: token1", { ...WETH_IN, price0Usd: null }, QUARTER, 13.275],
    ["only the token out is priced: token0", { ...USDC_IN, price1Usd: null }, FIFTH, 14.4],
    ["no price, token0 in", { ...WETH_IN, price0Usd: null, price1Usd: null }, QUARTER, null],
    ["no price, token1 in", { ...USDC_IN, price0Usd: null, price1Usd: null }, FIFTH, null],
    ["a fee of 1 %", WETH_IN, { fee: 10_000, protocolShare: 0 }, 60],
    ["more than a float holds", { ...WETH_IN, price0Usd: Number.MAX_VALUE }, FREE, null],
  ];
  for (const [name, swap, fee, expected] of cases) {
    it(`${name}: ${expected}`, () => {
      const feeUsd = swapFeeUsd(swap, fee);
      if (expected === null || feeUsd === null) expect(feeUsd).to.equal(expected);
      else expect(feeUsd).to.be.closeTo(expected, 1e-12);
    });
  }
});
