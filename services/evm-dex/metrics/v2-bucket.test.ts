import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { quantizeUsd } from "../../shared/pricing/quantize.ts";
import {
  addV2Fees,
  addV2Swap,
  emptyV2Bucket,
  feeGrowth,
  mergeV2Into,
  type V2Bucket,
  type V2Fees,
  type V2Swap,
  v2AmountsText,
} from "./v2-bucket.ts";

const amount = fc.bigInt({ min: -(2n ** 112n), max: 2n ** 112n });
const usd = fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }).map(quantizeUsd));
const anySwap: fc.Arbitrary<V2Swap> = fc.record({ amount0: amount, amount1: amount, valueUsd: usd });
const positive = fc.bigInt({ min: 0n, max: 2n ** 112n });
const anyFees: fc.Arbitrary<V2Fees> = fc.record({
  amount0: positive,
  amount1: positive,
  feeUsd: usd,
  totalSupply: positive,
});
const anyEvent = fc.oneof(anySwap, anyFees);

function bucketOf(events: readonly (V2Swap | V2Fees)[]): V2Bucket {
  const bucket = emptyV2Bucket();
  for (const event of events) {
    if ("totalSupply" in event) addV2Fees(bucket, event);
    else addV2Swap(bucket, event);
  }
  return bucket;
}

describe("v2 buckets", () => {
  it("sum up swaps by direction and fees", () => {
    const bucket = bucketOf([
      { amount0: 500n, amount1: -900n, valueUsd: 10 },
      { amount0: 0n, amount1: 7n, valueUsd: 0.5 },
      { amount0: -40n, amount1: 80n, valueUsd: 2 },
      { amount0: 3n, amount1: -4n, valueUsd: null },
      { amount0: 15n, amount1: 0n, feeUsd: 0.25, totalSupply: 30n },
      { amount0: 0n, amount1: 8n, feeUsd: null, totalSupply: 3n },
    ]);
    expect(bucket).to.deep.equal({
      swapCount: 4,
      unpricedCount: 2,
      zeroForOneUsd: 10,
      oneForZeroUsd: 2.5,
      feesUsd: 0.25,
      volume0: 543n,
      volume1: 991n,
      fees0: 15n,
      fees1: 8n,
      growth0: 5n * 10n ** 17n,
      growth1: 2_666_666_666_666_666_666n,
    });
  });

  it("of any parts merge to the bucket of the whole, in any order", () => {
    fc.assert(
      fc.property(fc.array(fc.array(anyEvent)), (parts) => {
        const merged = emptyV2Bucket();
        for (const part of [...parts].reverse()) mergeV2Into(merged, bucketOf(part));
        expect(merged).to.deep.equal(bucketOf(parts.flat()));
      }),
    );
  });

  it("keep their integers as text", () => {
    fc.assert(
      fc.property(fc.array(anyEvent), (events) => {
        const bucket = bucketOf(events);
        const { volume0, volume1, fees0, fees1, growth0, growth1 } = bucket;
        expect(v2AmountsText.read(v2AmountsText.write(bucket))).to.deep.equal({
          ...{ volume0, volume1, fees0, fees1, growth0, growth1 },
        });
      }),
    );
  });
});

describe("feeGrowth", () => {
  it("is the fee a LP token × 1e18, rounded down", () => {
    expect(feeGrowth(1n, 3n)).to.equal(333_333_333_333_333_333n);
    expect(feeGrowth(10n ** 18n, 10n ** 18n)).to.equal(10n ** 18n);
    expect(feeGrowth(0n, 5n)).to.equal(0n);
  });

  it("is 0 while there are no LP tokens", () => {
    expect(feeGrowth(10n ** 18n, 0n)).to.equal(0n);
  });
});
