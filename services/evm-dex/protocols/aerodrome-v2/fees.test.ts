import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { withCustomFee, withFeeOfSwap } from "./fees.ts";

const DEFAULT = { fee: 30, defaultFee: 30, hasCustomFee: false };
const CUSTOM = { fee: 100, defaultFee: 30, hasCustomFee: true };

const swapOf = (amount0In: bigint, amount1In = 0n) =>
  ({ kind: "swap", amount0In, amount1In, amount0Out: 0n, amount1Out: 0n }) as const;
const takenOf = (swap: { amount0In: bigint; amount1In: bigint }, fee: number) => ({
  swapFee0: (swap.amount0In * BigInt(fee)) / 10_000n,
  swapFee1: (swap.amount1In * BigInt(fee)) / 10_000n,
});

describe("a custom fee", () => {
  it("overrides the default, 420 means zero and 0 restores the default", () => {
    expect(withCustomFee(DEFAULT, 100)).to.deep.equal(CUSTOM);
    expect(withCustomFee(CUSTOM, 420)).to.deep.equal({ fee: 0, defaultFee: 30, hasCustomFee: true });
    expect(withCustomFee(CUSTOM, 0)).to.deep.equal(DEFAULT);
  });
});

describe("the fee that a swap shows", () => {
  it("is the one in force, whatever came in on either side from 10,000 raw units on", () => {
    const amount = fc.bigInt({ min: 10_000n, max: 2n ** 112n });
    fc.assert(
      fc.property(amount, fc.boolean(), fc.nat(10_000), (amountIn, isToken0, fee) => {
        const swap = isToken0 ? swapOf(amountIn) : swapOf(0n, amountIn);
        expect(withFeeOfSwap(DEFAULT, swap, takenOf(swap, fee)).fee).to.equal(fee);
      }),
    );
  });

  it("is the new default where there is no custom fee, and leaves the default alone where there is one", () => {
    const swap = swapOf(123_456_789n);
    expect(withFeeOfSwap(DEFAULT, swap, takenOf(swap, 5))).to.deep.equal({
      fee: 5,
      defaultFee: 5,
      hasCustomFee: false,
    });
    expect(withFeeOfSwap(CUSTOM, swap, takenOf(swap, 5))).to.deep.equal({ ...CUSTOM, fee: 5 });
    expect(withFeeOfSwap(DEFAULT, swap, { swapFee0: 0n, swapFee1: 0n }).fee).to.equal(0);
  });

  it("is not read from less, nor from a fee that no ten-thousandths give", () => {
    const small = swapOf(9_999n);
    expect(withFeeOfSwap(DEFAULT, small, takenOf(small, 100))).to.deep.equal(DEFAULT);
    expect(withFeeOfSwap(DEFAULT, swapOf(10_000_000n), { swapFee0: 1_001n, swapFee1: 0n })).to.deep.equal(
      DEFAULT,
    );
    expect(withFeeOfSwap(DEFAULT, swapOf(10_000n), { swapFee0: 10_001n, swapFee1: 0n })).to.deep.equal(
      DEFAULT,
    );
  });

  it("is read from the second token where too little of the first came in", () => {
    const swap = swapOf(3n, 50_000n);
    expect(withFeeOfSwap(DEFAULT, swap, takenOf(swap, 7)).fee).to.equal(7);
  });
});
