import { DAY, HOUR, startOf } from "./bucket.ts";
import { isCovered, type PoolCoverage } from "./pool-windows.ts";
import {
  emptyV2Bucket,
  emptyV2Numbers,
  mergeV2Into,
  mergeV2Numbers,
  type V2Bucket,
  type V2Numbers,
} from "./v2-bucket.ts";
import type { Window } from "./window.ts";

/** The `days` UTC days before the one that holds the head: they are over. */
export function completedDays(headTime: number, days: number): Window {
  const end = startOf(headTime, DAY);
  return { start: end - days * DAY, end };
}

/** `hours` whole UTC hours, of which the last is the head's own, still open. */
export function hoursUpTo(headTime: number, hours: number): Window {
  const end = startOf(headTime, HOUR) + HOUR;
  return { start: end - hours * HOUR, end };
}

type Timed<B> = Readonly<B> & { readonly start: number };

/** The sum of the buckets that start in a window; undefined where the window begins before the index. */
export function v2SumOf(
  buckets: Iterable<Timed<V2Bucket>>,
  { window, coverage }: { window: Window; coverage: PoolCoverage },
): V2Bucket | undefined {
  if (!isCovered(window, coverage)) return undefined;
  const sum = emptyV2Bucket();
  for (const bucket of buckets) if (isIn(bucket, window)) mergeV2Into(sum, bucket);
  return sum;
}

/** The same without raw amounts, for callers that have not read them. */
export function v2NumbersOf(
  buckets: Iterable<Timed<V2Numbers>>,
  { window, coverage }: { window: Window; coverage: PoolCoverage },
): V2Numbers | undefined {
  if (!isCovered(window, coverage)) return undefined;
  const sum = emptyV2Numbers();
  for (const bucket of buckets) if (isIn(bucket, window)) mergeV2Numbers(sum, bucket);
  return sum;
}

function isIn(bucket: { readonly start: number }, window: Window): boolean {
  return bucket.start >= window.start && bucket.start < window.end;
}

/** The buckets' windows one by one, oldest first: each hour of a day, each day of a week. */
export function partsOf(window: Window, span: number): Window[] {
  return Array.from({ length: Math.round((window.end - window.start) / span) }, (_, i) => ({
    start: window.start + i * span,
    end: window.start + (i + 1) * span,
  }));
}
