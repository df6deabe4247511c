import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { quantizeUsd } from "../../shared/pricing/quantize.ts";
import { addSwap, type Bucket, type BucketSwap, emptyBucket, mergeInto, startOf } from "./bucket.ts";

const usd = fc.double({ min: 0, max: 1e7, noNaN: true }).map(quantizeUsd);
const swap: fc.Arbitrary<BucketSwap> = fc.record({
  valueUsd: fc.option(usd),
  feeUsd: fc.option(usd),
  tickTravel: fc.nat(1_774_544),
  closePrice: fc.double({ min: 1e-12, max: 1e12, noNaN: true }),
});

function bucketOf(swaps: readonly BucketSwap[]): Bucket {
  const bucket = emptyBucket();
  for (const each of swaps) addSwap(bucket, each);
  return bucket;
}

describe("buckets", () => {
  it("count the swaps without value and those without fee, and sum the others", () => {
    const bucket = bucketOf([
      { valueUsd: 100.5, feeUsd: 0.25, tickTravel: 3, closePrice: 2 },
      { valueUsd: null, feeUsd: 0.5, tickTravel: 4, closePrice: 3 },
      { valueUsd: 7, feeUsd: null, tickTravel: 0, closePrice: 4 },
      { valueUsd: null, feeUsd: null, tickTravel: 1, closePrice: 5 },
      { valueUsd: 200, feeUsd: 0.5, tickTravel: 10, closePrice: 2.5 },
    ]);
    expect(bucket).to.deep.equal({
      swapCount: 5,
      volumeUsd: 307.5,
      feesUsd: 1.25,
      unpricedCount: 2,
      unpricedFeeCount: 2,
      tickTravel: 18,
      closePrice: 2.5,
      lastSeenUsers: 0,
    });
  });

  it("merged from any parts are what their swaps are one by one, to the bit", () => {
    const parts = fc.array(fc.record({ swaps: fc.array(swap, { maxLength: 6 }), users: fc.nat(9) }), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(parts, (list) => {
        const merged = emptyBucket();
        for (const { swaps, users } of list) mergeInto(merged, { ...bucketOf(swaps), lastSeenUsers: users });
        expect(merged).to.deep.equal({
          ...bucketOf(list.flatMap(({ swaps }) => swaps)),
          lastSeenUsers: list.reduce((sum, { users }) => sum + users, 0),
        });
      }),
    );
  });

  it("keep the earlier close when a bucket without swaps is merged", () => {
    const bucket = bucketOf([{ valueUsd: 1, feeUsd: 0, tickTravel: 0, closePrice: 9 }]);
    mergeInto(bucket, emptyBucket());
    expect(bucket.closePrice).to.equal(9);
  });
});

describe("startOf", () => {
  it("rounds down to the span", () => {
    // 2023-11-14T22:13:20Z
    expect(startOf(1_700_000_000, 60)).to.equal(1_699_999_980);
    expect(startOf(1_700_000_000, 3600)).to.equal(1_699_999_200);
    expect(startOf(1_700_000_000, 86_400)).to.equal(1_699_920_000);
    expect(startOf(1_699_920_000, 86_400)).to.equal(1_699_920_000);
  });
});
