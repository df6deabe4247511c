import { type Bucket, emptyBucket, HOUR, MINUTE, SPANS, type Span, startOf } from "./bucket.ts";
import { KEPT_SECONDS } from "./kept.ts";
import { type Volatility, volatilityOf } from "./volatility.ts";
import {
  type Edge,
  edgeOf,
  firstWholeMinute,
  type Segment,
  segmentsOf,
  TIME_RANGES,
  type TimeRange,
  type Window,
  windowAt,
  YEAR_SECONDS,
} from "./window.ts";

/** Fields of buckets that windows sum up. */
export const SUMMED_FIELDS = [
  "swapCount",
  "volumeUsd",
  "feesUsd",
  "unpricedCount",
  "unpricedFeeCount",
  "tickTravel",
  "lastSeenUsers",
] as const;
export type BucketTotals = Readonly<Pick<Bucket, (typeof SUMMED_FIELDS)[number]>>;

/** Buckets of one span that start in [start, end). */
type BucketRange = Segment;

export interface BucketClose {
  readonly start: number;
  readonly closePrice: number;
}

/** The closes of buckets of one span, in time order. */
interface SpanCloses {
  /** Close before the first of them; undefined where the pool had not traded. */
  readonly before: number | undefined;
  readonly closes: readonly BucketClose[];
}

/** Input of the metrics: totals of each of `sumRangesAt` and `edgesAt`, closes of each of `closeRangesAt`. */
export interface PoolBuckets {
  readonly sums: readonly (BucketRange & { readonly totals: BucketTotals })[];
  /** By the edge's start; none where the swaps of its minute are no longer stored. */
  readonly edges: ReadonlyMap<number, BucketTotals>;
  /** Starts of the windows whose first hour has not all its minutes any more: they begin with the next whole hour. */
  readonly coarse: ReadonlySet<number>;
  readonly closes: ReadonlyMap<Span, SpanCloses>;
}

export interface PoolCoverage {
  /** Unix seconds of the pool's creation. */
  readonly createdAt: number;
  /** Unix seconds of the first indexed block. */
  readonly indexedFrom: number;
}

/** One element of each array column of a v3 pool row. */
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

/** Buckets whose closes give a range's volatility: those that end within it, and the open one. */
function closeRange(range: TimeRange, headTime: number): BucketRange {
  const window = windowAt(headTime, range.seconds);
  return { span: range.closeSpan, start: startOf(window.start, range.closeSpan), end: window.end };
}

/** The closes that the six ranges need: one read per span, since all ranges end at the head. */
export function closeRangesAt(headTime: number): BucketRange[] {
  const needed = TIME_RANGES.map((range) => closeRange(range, headTime));
  return SPANS.flatMap((span) => {
    const own = needed.filter((range) => range.span === span);
    const start = Math.min(...own.map((range) => range.start));
    return own.length === 0 ? [] : [{ ...(own[0] as BucketRange), start }];
  });
}

/**
 * The six windows cut into pieces that each lie wholly inside or outside a window: every bucket is summed once, and a
 * window is the sum of its pieces. Their number depends neither on the head nor on the swaps.
 */
export function sumRangesAt(headTime: number): BucketRange[] {
  const segments = TIME_RANGES.flatMap((range) => segmentsOf(windowAt(headTime, range.seconds)));
  return SPANS.flatMap((span) => {
    const own = segments.filter((segment) => segment.span === span);
    const edges = [...new Set(own.flatMap(({ start, end }) => [start, end]))].sort((a, b) => a - b);
    return edges
      .map((start, i) => ({ span, start, end: edges[i + 1] ?? start }))
      .filter((piece) => own.some((segment) => isWithin(piece, segment)));
  });
}

/** The edges of the six windows; all begin at the same second of their minutes. */
export function edgesAt(headTime: number): Edge[] {
  return TIME_RANGES.flatMap((range) => edgeOf(windowAt(headTime, range.seconds)) ?? []);
}

/** A window and the hour that it begins within, whose minutes may be gone. */
export interface FirstHour {
  readonly windowStart: number;
  readonly hour: number;
}

/** The hours that long windows begin within; none of those that begin with a whole hour. */
export function firstHoursAt(headTime: number): FirstHour[] {
  return TIME_RANGES.flatMap(({ seconds }) => {
    const { start: windowStart } = windowAt(headTime, seconds);
    const hour = startOf(windowStart, HOUR);
    return seconds > KEPT_SECONDS[MINUTE] && hour !== windowStart ? [{ windowStart, hour }] : [];
  });
}

function isWithin(piece: BucketRange, segment: Segment): boolean {
  return (
    piece.span === segment.span &&
    piece.start < piece.end &&
    piece.start >= segment.start &&
    piece.end <= segment.end
  );
}

/**
 * The metrics of the six ranges at the head. A range that reaches back before the first indexed block is null
 * throughout, unless the pool was created after it; a sum that swaps of unknown value or fee belong to is null. A range
 * whose edge is not known begins with its first whole minute, one whose first hour lacks minutes with the next hour: rates
 * are over the seconds that were summed.
 */
export function metricsOf(
  buckets: PoolBuckets,
  { headTime, coverage, tvlUsd }: { headTime: number; coverage: PoolCoverage; tvlUsd: number | null },
): RangeMetrics[] {
  return TIME_RANGES.map((range) => {
    const window = windowAt(headTime, range.seconds);
    if (!isCovered(window, coverage)) return NOT_COVERED;
    const { sum, seconds } = sumOf(buckets, window);
    const swapVolumeUsd = sum.unpricedCount > 0 ? null : sum.volumeUsd;
    const feesUsd = sum.unpricedFeeCount > 0 ? null : sum.feesUsd;
    return {
      swapVolumeUsd,
      feesUsd,
      feeApr: aprOf(feesUsd, { tvlUsd, seconds }),
      ...volatilityOf(closesOf(buckets, { range, headTime })),
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
function aprOf(
  feesUsd: number | null,
  { tvlUsd, seconds }: { tvlUsd: number | null; seconds: number },
): number | null {
  if (feesUsd === null || tvlUsd === null || tvlUsd <= 0) return null;
  return ((feesUsd / tvlUsd) * YEAR_SECONDS) / seconds;
}

/** The totals of a window, and how many seconds of it they are of. */
function sumOf(buckets: PoolBuckets, window: Window): { sum: BucketTotals; seconds: number } {
  const { closePrice: _, ...sum } = emptyBucket();
  const isCoarse = buckets.coarse.has(window.start);
  const segments = segmentsOf(window).filter(({ span }) => !isCoarse || span !== MINUTE);
  const parts = buckets.sums.filter((piece) => segments.some((segment) => isWithin(piece, segment)));
  const edge = isCoarse ? undefined : buckets.edges.get(window.start);
  for (const totals of [...parts.map((part) => part.totals), ...(edge === undefined ? [] : [edge])]) {
    for (const field of SUMMED_FIELDS) sum[field] += totals[field];
  }
  const whole = isCoarse ? Math.ceil(window.start / HOUR) * HOUR : firstWholeMinute(window);
  return { sum, seconds: window.end - (edge === undefined ? whole : window.start) };
}

/** One close a bucket, the last one carried over buckets without swaps; none before the pool's first swap. */
function closesOf(
  buckets: PoolBuckets,
  { range, headTime }: { range: TimeRange; headTime: number },
): number[] {
  const { span, start, end } = closeRange(range, headTime);
  const known = buckets.closes.get(span);
  let close = known?.before;
  const closeAt = new Map<number, number>();
  for (const bucket of known?.closes ?? []) {
    if (bucket.start < start) close = bucket.closePrice;
    else closeAt.set(bucket.start, bucket.closePrice);
  }
  const closes: number[] = [];
  for (let at = start; at < end; at += span) {
    close = closeAt.get(at) ?? close;
    if (close !== undefined) closes.push(close);
  }
  return closes;
}
