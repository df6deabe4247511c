import fc from "fast-check";
import { quantizeUsd } from "../../../shared/pricing/quantize.ts";
import type { Bucket, Span } from "../../metrics/bucket.ts";
import { address } from "./rows.ts";

/** A swap as a brute-force calculation sees it. */
export interface ModelSwap {
  readonly time: number;
  readonly user: string;
  readonly valueUsd: number | null;
  readonly feeUsd: number | null;
  readonly tickTravel: number;
  readonly closePrice: number;
}

interface TimedBucket extends Readonly<Bucket> {
  readonly start: number;
}

/** Users. */
export const ANN = address(0xa1);
export const BOB = address(0xb0);
export const CID = address(0xc0);
export const DAN = address(0xd0);
export const EVE = address(0xe0);
export const FAY = address(0xf0);

const MIDNIGHT = 1_699_920_000;

/** Heads of any second, and those around the edges of minutes, hours and days. */
export const anyHead = fc.oneof(
  fc.integer({ min: 1_600_000_000, max: 1_800_000_000 }),
  fc
    .tuple(fc.constantFrom(60, 3600, 86_400), fc.nat(400), fc.integer({ min: -2, max: 2 }))
    .map(([span, count, shift]) => MIDNIGHT + span * count + shift),
);

const usd = fc.double({ min: 0, max: 1e6, noNaN: true }).map(quantizeUsd);

/** Swaps at most `age` seconds old, dense near the head, in time order, by few users; `unpriced` lets values be null. */
export function swapsBefore(
  head: number,
  { unpriced, age }: { age: number; unpriced: boolean },
): fc.Arbitrary<ModelSwap[]> {
  const value = unpriced ? fc.option(usd, { freq: 20 }) : usd;
  const swap = fc.record({
    time: fc
      .tuple(
        fc.constantFrom(60, 300, 360, 3_600, 86_400, 30 * 86_400, age),
        fc.double({ min: 0, max: 1, noNaN: true }),
      )
      .map(([reach, share]) => head - Math.floor(share * Math.min(reach, age))),
    user: fc.constantFrom(ANN, BOB, CID, DAN, EVE, FAY),
    valueUsd: value,
    feeUsd: value,
    tickTravel: fc.nat(1_000),
    closePrice: fc.double({ min: 0.5, max: 2, noNaN: true }),
  });
  return fc.array(swap, { maxLength: 40 }).map((swaps) => swaps.sort((a, b) => a.time - b.time));
}

/** All buckets of one span, by going over the whole list for each number. */
export function modelBuckets(swaps: readonly ModelSwap[], span: Span): TimedBucket[] {
  const starts = [...new Set(swaps.map(({ time }) => Math.floor(time / span) * span))].sort((a, b) => a - b);
  const lastTimes = new Map(swaps.map(({ user, time }) => [user, time]));
  return starts.map((start) => {
    const isIn = (time: number) => time >= start && time < start + span;
    const own = swaps.filter(({ time }) => isIn(time));
    return {
      start,
      swapCount: own.length,
      volumeUsd: own.reduce((sum, { valueUsd }) => sum + (valueUsd ?? 0), 0),
      feesUsd: own.reduce((sum, { feeUsd }) => sum + (feeUsd ?? 0), 0),
      unpricedCount: own.filter(({ valueUsd }) => valueUsd === null).length,
      unpricedFeeCount: own.filter(({ feeUsd }) => feeUsd === null).length,
      tickTravel: own.reduce((sum, { tickTravel }) => sum + tickTravel, 0),
      closePrice: own.at(-1)?.closePrice ?? 0,
      lastSeenUsers: [...lastTimes.values()].filter(isIn).length,
    };
  });
}
