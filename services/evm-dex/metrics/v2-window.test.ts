import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { anyHead } from "../test/kit/swap-model.ts";
import { addV2Fees, addV2Swap, emptyV2Bucket, feesUsdOf, type V2Bucket, volumeUsdOf } from "./v2-bucket.ts";
import { completedDays, hoursUpTo, partsOf, v2NumbersOf, v2SumOf } from "./v2-window.ts";

const MIDNIGHT = 1_699_920_000;
const HOUR = 3_600;
const DAY = 86_400;

describe("v2 windows", () => {
  it("of days end with the last midnight, and hold whole UTC days", () => {
    const week = { start: MIDNIGHT - 7 * DAY, end: MIDNIGHT };
    expect(completedDays(MIDNIGHT, 7), "the first second of a day").to.deep.equal(week);
    expect(completedDays(MIDNIGHT + DAY - 1, 7), "its last second").to.deep.equal(week);
    expect(completedDays(MIDNIGHT - 1, 1)).to.deep.equal({ start: MIDNIGHT - 2 * DAY, end: MIDNIGHT - DAY });
  });

  it("of hours end with the head's hour", () => {
    const day = { start: MIDNIGHT - 23 * HOUR, end: MIDNIGHT + HOUR };
    expect(hoursUpTo(MIDNIGHT, 24)).to.deep.equal(day);
    expect(hoursUpTo(MIDNIGHT + HOUR - 1, 24)).to.deep.equal(day);
    expect(hoursUpTo(MIDNIGHT - 1, 1)).to.deep.equal({ start: MIDNIGHT - HOUR, end: MIDNIGHT });
  });

  it("fall into their hours or days, each for itself", () => {
    expect(partsOf({ start: 0, end: 3 * HOUR }, HOUR)).to.deep.equal([
      { start: 0, end: HOUR },
      { start: HOUR, end: 2 * HOUR },
      { start: 2 * HOUR, end: 3 * HOUR },
    ]);
    fc.assert(
      fc.property(anyHead, fc.integer({ min: 1, max: 30 }), (head, days) => {
        const parts = partsOf(completedDays(head, days), DAY);
        expect(parts).to.have.length(days);
        expect(parts.at(-1)?.end).to.equal(head - (head % DAY));
      }),
    );
  });
});

function bucketAt(start: number, valueUsd: number | null): V2Bucket & { start: number } {
  const bucket = emptyV2Bucket();
  addV2Swap(bucket, { amount0: 3n, amount1: -4n, valueUsd });
  addV2Fees(bucket, { amount0: 1n, amount1: 0n, feeUsd: valueUsd, totalSupply: 10n });
  return { start, ...bucket };
}

describe("sums of v2 buckets", () => {
  const window = { start: 2 * DAY, end: 4 * DAY };
  const buckets = [1, 2, 3, 4].map((day) => bucketAt(day * DAY, day));
  const covered = { createdAt: 0, indexedFrom: 0 };

  it("are those of the window alone: its first second is in it, its end is not", () => {
    const sum = v2SumOf(buckets, { window, coverage: covered });
    expect(sum).to.include({
      swapCount: 2,
      zeroForOneUsd: 5,
      feesUsd: 5,
      volume0: 6n,
      volume1: 8n,
      fees0: 2n,
    });
    const { swapCount, unpricedCount, zeroForOneUsd, oneForZeroUsd, feesUsd } = sum as V2Bucket;
    expect(v2NumbersOf(buckets, { window, coverage: covered })).to.deep.equal({
      ...{ swapCount, unpricedCount, zeroForOneUsd, oneForZeroUsd, feesUsd },
    });
  });

  it("have no USD where a swap or a fee had none", () => {
    const sum = v2SumOf([...buckets, bucketAt(3 * DAY, null)], { window, coverage: covered }) as V2Bucket;
    expect(sum).to.include({ swapCount: 3, unpricedCount: 2, volume0: 9n });
    expect([volumeUsdOf(sum), feesUsdOf(sum)]).to.deep.equal([null, null]);
    const before = v2SumOf([...buckets, bucketAt(DAY, null)], { window, coverage: covered }) as V2Bucket;
    expect([volumeUsdOf(before), feesUsdOf(before)], "outside the window").to.deep.equal([5, 5]);
  });

  it("are unknown where the window begins before the index does, unless the pool is younger", () => {
    const sumWith = (createdAt: number, indexedFrom: number) => {
      const range = { window, coverage: { createdAt, indexedFrom } };
      expect(v2NumbersOf(buckets, range) === undefined).to.equal(v2SumOf(buckets, range) === undefined);
      return v2SumOf(buckets, range)?.swapCount;
    };
    expect(sumWith(0, 2 * DAY), "from its first second on").to.equal(2);
    expect(sumWith(0, 2 * DAY + 1), "all but its first second").to.equal(undefined);
    expect(sumWith(2 * DAY + 1, 2 * DAY + 1), "the pool came with the index").to.equal(2);
  });
});
