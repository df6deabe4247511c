import { COST, type LimitRule } from "./rule.ts";

/**
 * GCRA as a leaky bucket (ITU-T I.371 defines this form and the equivalent one by theoretical arrival times): each
 * request adds COST, time drains it, and a request that would overflow the bucket is refused and adds nothing.
 * Unlike arrival times, this state does not contain the rule, so a changed rate or burst applies at once; and it
 * tolerates a clock that goes back.
 * bucket-script.ts has the same arithmetic in Lua; a test compares the two.
 */
export interface Bucket {
  /** Units in the bucket, a whole number. */
  readonly level: number;
  /** Microseconds of the clock that drains it. */
  readonly atUs: number;
  /** UTC day whose requests `used` counts, in days since 1970. */
  readonly day: number;
  /** Requests that passed on that day; counted only under a daily quota. */
  readonly used: number;
}

/** Two clocks, because a bucket must not drain by a wall clock that jumps. Microseconds, whole numbers. */
export interface ClockReading {
  readonly nowUs: number;
  /** Unix time, from which UTC days are counted. */
  readonly wallUs: number;
}

export interface TakeResult {
  readonly bucket: Bucket;
  /** How many of the requested `count` may pass: all, or as many as fit. */
  readonly granted: number;
}

export const DAY_US = 86_400_000_000;

/**
 * Takes up to `count` requests from a bucket (0 only drains it to now). Pure.
 * A clock that went back drains nothing and refuses nothing: time continues from the new reading. A day that comes
 * again does not grant its quota again.
 */
export function takeFromBucket(
  known: Bucket | undefined,
  clocks: ClockReading,
  { rule, count }: { readonly rule: LimitRule; readonly count: number },
): TakeResult {
  const { nowUs, wallUs } = clocks;
  const today = Math.floor(wallUs / DAY_US);
  let level = 0;
  let day = today;
  let used = 0;
  if (known !== undefined) {
    level = known.level;
    if (nowUs > known.atUs) level = Math.max(0, level - (nowUs - known.atUs) * rule.drain);
    if (known.day >= today) {
      day = known.day;
      used = known.used;
    }
  }
  let granted = Math.min(count, Math.floor((rule.capacity - level) / COST));
  if (rule.dailyQuota !== null) granted = Math.min(granted, rule.dailyQuota - used);
  if (granted < 0) granted = 0;
  level += granted * COST;
  if (rule.dailyQuota !== null) used += granted;
  return { bucket: { level, atUs: nowUs, day, used }, granted };
}

/** What remains of a limit, for headers and waits. */
export interface RemainingLimit {
  /** Requests that could pass at once. */
  readonly burst: number;
  /** Microseconds until one more could, by the burst alone. */
  readonly nextUs: number;
  /** Requests that remain today; null without a quota. */
  readonly daily: number | null;
  /** Microseconds until the daily quota resets. */
  readonly dayEndsInUs: number;
}

/** What remains of a limit at the bucket's time; `wallUs` as in ClockReading. Pure. */
export function computeRemaining(bucket: Bucket, rule: LimitRule, wallUs: number): RemainingLimit {
  const burst = Math.max(0, Math.floor((rule.capacity - bucket.level) / COST));
  const surplus = bucket.level + (burst + 1) * COST - rule.capacity;
  return {
    burst,
    nextUs: Math.max(0, Math.ceil(surplus / rule.drain)),
    daily: rule.dailyQuota === null ? null : Math.max(0, rule.dailyQuota - bucket.used),
    dayEndsInUs: (bucket.day + 1) * DAY_US - wallUs,
  };
}

/** Microseconds after which a refused request could pass: the longer of the waits for the burst and for the day. */
export function computeWaitUs({ burst, nextUs, daily, dayEndsInUs }: RemainingLimit): number {
  return Math.max(burst > 0 ? 0 : nextUs, daily === 0 ? dayEndsInUs : 0);
}
