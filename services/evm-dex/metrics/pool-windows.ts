import { type Bucket, emptyBucket, mergeInto, SPANS, type Span, startOf } from "./bucket.ts";
import { type Volatility, volatilityOf } from "./volatility.ts";
import { segmentsOf, TIME_RANGES, type TimeRange, type Window, windowAt, YEAR_SECONDS } from "./window.ts";

export interface TimedBucket extends Readonly<Bucket> {
  readonly start: number;
}

/** Buckets of one span that start in [start, end). */
export interface BucketRange extends Window {
  readonly span: Span;
}

/** Buckets of a pool by span, each list in time order, and the price each span's first list begins with. */
export interface PoolBuckets {
  readonly bySpan: ReadonlyMap<Span, readonly TimedBucket[]>;
  /** Close before the first bucket of a range's closes, by range label; absent where the pool had not traded. */
  readonly closeBefore: ReadonlyMap<string, number>;
}

export interface PoolCoverage {
  /** Unix seconds of the pool's creation. */
  readonly createdAt: number;
  /** Unix seconds of the first indexed block. */
  readonly indexedFrom: number;
}

/** One element of each array column of a v3 pool answer. */
export interface RangeMetrics extends Volatility {
  readonly swapVolumeUsd: number | null;
  readonly feesUsd: number | null;
  readonly feeApr: number | null;
  readonly tickPressurePer1mUsd: number | null;
  readonly swapCount: number | null;
  readonly uniqueUserCount: number | null;
}

const NOT_COVERED: RangeMetrics = {
  swapVolumeUsd: null,
  feesUsd: null,
  feeApr: null,
  priceVolatilityPct: null,
  meanAdjustedVolatilityPct: null,
  tickPressurePer1mUsd: null,
  swapCount: null,
  uniqueUserCount: null,
};

/** Whole buckets whose closes a range's volatility is taken of: those that end within it, the open one included. */
export function closeRange(range: TimeRange, headTime: number): BucketRange {
  const window = windowAt(headTime, range.seconds);
  return { span: range.closeSpan, start: startOf(window.start, range.closeSpan), end: window.end };
}

/** All buckets that the six ranges need, as few contiguous reads; the number of swaps does not change it. */
export function bucketRangesAt(headTime: number): BucketRange[] {
  const needed = TIME_RANGES.flatMap((range) => [
    ...segmentsOf(windowAt(headTime, range.seconds)),
    closeRange(range, headTime),
  ]);
  return SPANS.flatMap((span) => joinRanges(needed.filter((range) => range.span === span)));
}

function joinRanges(ranges: readonly BucketRange[]): BucketRange[] {
  const joined: { span: Span; start: number; end: number }[] = [];
  for (const range of [...ranges].sort((a, b) => a.start - b.start)) {
    const last = joined.at(-1);
    if (last !== undefined && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else joined.push({ ...range });
  }
  return joined;
}

/**
 * The metrics of the six ranges at the head. A range that reaches back before the first indexed block is null
 * throughout, unless the pool was created after it; one with unpriced swaps has no USD numbers.
 */
export function metricsOf(
  buckets: PoolBuckets,
  of: { headTime: number; coverage: PoolCoverage; tvlUsd: number | null },
): RangeMetrics[] {
  return TIME_RANGES.map((range) => {
    const window = windowAt(of.headTime, range.seconds);
    if (!isCovered(window, of.coverage)) return NOT_COVERED;
    const sum = sumOf(buckets, window);
    const swapVolumeUsd = sum.unpricedCount > 0 ? null : sum.volumeUsd;
    const feesUsd = sum.unpricedCount > 0 ? null : sum.feesUsd;
    return {
      swapVolumeUsd,
      feesUsd,
      feeApr: aprOf(feesUsd, { tvlUsd: of.tvlUsd, seconds: range.seconds }),
      ...volatilityOf(closesOf(buckets, { range, headTime: of.headTime })),
      tickPressurePer1mUsd:
        swapVolumeUsd === null || swapVolumeUsd === 0 ? null : (sum.tickTravel * 1e6) / swapVolumeUsd,
      swapCount: sum.swapCount,
      uniqueUserCount: sum.lastSeenUsers,
    };
  });
}

export function isCovered(window: Window, coverage: PoolCoverage): boolean {
  return coverage.createdAt >= coverage.indexedFrom || window.start >= coverage.indexedFrom;
}

/** feesUsd / TVL × year / window. Null without TVL. */
function aprOf(feesUsd: number | null, of: { tvlUsd: number | null; seconds: number }): number | null {
  if (feesUsd === null || of.tvlUsd === null || of.tvlUsd <= 0) return null;
  return ((feesUsd / of.tvlUsd) * YEAR_SECONDS) / of.seconds;
}

function sumOf(buckets: PoolBuckets, window: Window): Bucket {
  const sum = emptyBucket();
  for (const segment of segmentsOf(window)) {
    for (const bucket of buckets.bySpan.get(segment.span) ?? []) {
      if (bucket.start >= segment.start && bucket.start < segment.end) mergeInto(sum, bucket);
    }
  }
  return sum;
}

/** One close a bucket, the last one carried over buckets without swaps; none before the pool's first swap. */
function closesOf(buckets: PoolBuckets, of: { range: TimeRange; headTime: number }): number[] {
  const { span, start, end } = closeRange(of.range, of.headTime);
  const closeAt = new Map<number, number>();
  for (const bucket of buckets.bySpan.get(span) ?? []) {
    if (bucket.swapCount > 0) closeAt.set(bucket.start, bucket.closePrice);
  }
  let close = buckets.closeBefore.get(of.range.label);
  const closes: number[] = [];
  for (let at = start; at < end; at += span) {
    close = closeAt.get(at) ?? close;
    if (close !== undefined) closes.push(close);
  }
  return closes;
}
