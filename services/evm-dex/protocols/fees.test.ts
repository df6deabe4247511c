import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { type SwapAmounts, swapFeeUsd } from "../metrics/usd.ts";
import { pancakeV3 } from "./pancake-v3.ts";
import { slipstream } from "./slipstream.ts";
import { uniswapV3 } from "./uniswap-v3.ts";
import type { PancakeSwapEvent, SwapEvent } from "./v3/events.ts";
import { EMPTY_STATE } from "./v3/state.ts";

const pool = {
  poolAddress: "0x01",
  dexAddress: "0x04",
  token0Address: "0x02",
  token1Address: "0x03",
  token0Decimals: 18,
  token1Decimals: 6,
  fee: 2_500,
  stable: false,
};
const E18 = 10n ** 18n;
/** 2 token0 in at 3,000 USD; 6,100 token1 in at 1 USD. */
const ZERO_IN: SwapAmounts = { amount0: 2, amount1: -5_900, price0Usd: 3_000, price1Usd: 1 };
const ONE_IN: SwapAmounts = { amount0: -2, amount1: 6_100, price0Usd: 3_000, price1Usd: 1 };
const swapOf = (amount0: bigint, amount1: bigint): SwapEvent => ({
  kind: "swap",
  amount0,
  amount1,
  sqrtPriceX96: 1n,
  liquidity: 1n,
  tick: 0,
});
const zeroIn = swapOf(2n * E18, -5_900n * 10n ** 6n);
const oneIn = swapOf(-2n * E18, 6_100n * 10n ** 6n);

describe("fees of a Uniswap v3 swap", () => {
  const feeUsd = (swap: SwapAmounts, feeProtocol: number) =>
    uniswapV3.feeUsd(swap, {
      event: swap === ZERO_IN ? zeroIn : oneIn,
      state: { ...EMPTY_STATE, feeProtocol },
      pool,
    });

  // 0x64: a quarter of token0's fees, a sixth of token1's.
  const cases: readonly [SwapAmounts, number, number][] = [
    [ZERO_IN, 0, 15],
    [ZERO_IN, 0x64, 15 * (3 / 4)],
    [ONE_IN, 0x64, 15.25 * (5 / 6)],
    [ZERO_IN, 0xa0, 15],
    [ONE_IN, 0xa0, 15.25 * (9 / 10)],
    [ONE_IN, 0x0a, 15.25],
  ];
  for (const [swap, feeProtocol, expected] of cases) {
    it(`${swap === ZERO_IN ? "token0" : "token1"} in, slot0's byte ${feeProtocol}: ${expected}`, () => {
      expect(feeUsd(swap, feeProtocol)).to.be.closeTo(expected, 1e-9);
    });
  }
});

describe("fees of a PancakeSwap v3 swap", () => {
  const feeUsd = (swap: SwapAmounts, event: SwapEvent, taken: readonly [bigint, bigint]) =>
    pancakeV3.feeUsd(swap, {
      event: { ...event, protocolFees: { amount0: taken[0], amount1: taken[1] } } satisfies PancakeSwapEvent,
      state: EMPTY_STATE,
      pool,
    });

  it("are what the protocol left of them, by the swap's own account", () => {
    // 0.25 % of 2 token0 is 0.005, of which 32 % are 0.0016: 0.0034 × 3,000 are left.
    expect(feeUsd(ZERO_IN, zeroIn, [16n * 10n ** 14n, 0n])).to.be.closeTo(10.2, 1e-9);
    // 0.25 % of 6,100 is 15.25, of which 34 % are 5.185.
    expect(feeUsd(ONE_IN, oneIn, [0n, 5_185_000n])).to.be.closeTo(10.065, 1e-9);
    expect(feeUsd(ZERO_IN, zeroIn, [0n, 0n])).to.be.closeTo(15, 1e-9);
    const unpriced = { ...ZERO_IN, price0Usd: null };
    expect(feeUsd(unpriced, zeroIn, [16n * 10n ** 14n, 0n])).to.be.closeTo(5_900 * 0.0025 * 0.68, 1e-9);
    expect(feeUsd({ ...unpriced, price1Usd: null }, zeroIn, [0n, 0n])).to.equal(null);
  });

  it("are never less than nothing, however small the swap", () => {
    expect(feeUsd({ ...ZERO_IN, amount0: 1e-18 }, swapOf(1n, 0n), [1n, 0n])).to.equal(0);
    expect(feeUsd({ ...ZERO_IN, amount0: 0, amount1: 0 }, swapOf(0n, 0n), [0n, 0n])).to.equal(0);
  });

  it("equal Uniswap's where the protocol takes the same", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 10n ** 9n, max: 10n ** 30n }), fc.nat(10_000), (amount0, share) => {
        const swap = { ...ZERO_IN, amount0: Number(amount0) / 1e18 };
        const fee = (amount0 * 2_500n) / 1_000_000n;
        const actual = feeUsd(swap, swapOf(amount0, -1n), [(fee * BigInt(share)) / 10_000n, 0n]) as number;
        const expected = swapFeeUsd(swap, { fee: 2_500, protocolShare: share / 10_000 }) as number;
        expect(actual).to.be.closeTo(expected, swap.amount0 * 3_000 * 0.0025 * 1e-5);
      }),
    );
  });
});

describe("fees of a Slipstream swap", () => {
  it("are unknown: the fee may differ by swap, and staked liquidity earns none", () => {
    expect(slipstream.feeUsd(ZERO_IN, { event: zeroIn, state: EMPTY_STATE, pool })).to.equal(null);
  });
});
