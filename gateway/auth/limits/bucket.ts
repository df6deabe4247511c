import { COST, type LimitRule } from "./rule.ts";

/**
 * GCRA as a leaky bucket (ITU-T I.371 gives it in this form and, equal to it, by theoretical arrival times): each
 * request adds COST, time drains it, and a request that would make it overflow is refused and adds nothing.
 * This form rather than that of arrival times because its state says nothing of the rule: a changed rate or burst holds
 * at once; and because it can be told a clock that has gone back.
 * The same arithmetic stands as Lua in bucket-script.ts; a test holds them together.
 */
export interface Bucket {
  /** Units in it, a whole number. */
  readonly level: number;
  /** Microseconds of the clock that drains it. */
  readonly atUs: number;
  /** Days since 1970 in UTC whose requests `used` counts. */
  readonly day: number;
  /** Requests let pass on that day; counted under a daily quota only. */
  readonly used: number;
}

/** Two clocks, since what drains a bucket should not jump with the wall clock. Microseconds, whole numbers. */
export interface ClockReading {
  readonly nowUs: number;
  /** Unix time: UTC days come from it. */
  readonly wallUs: number;
}

export interface TakeResult {
  readonly bucket: Bucket;
  /** How many of the wanted requests may pass: all, or as many as fit. */
  readonly granted: number;
}

export const DAY_US = 86_400_000_000;

/**
 * Takes up to `want` requests out of a bucket (0 only brings it up to now). Pure.
 * A clock that has gone back drains nothing and refuses nobody: time counts on from where the clock stands now. A day
 * that comes again does not give its quota again.
 */
export function takeFrom(
  known: Bucket | undefined,
  moment: ClockReading,
  { rule, want }: { readonly rule: LimitRule; readonly want: number },
): TakeResult {
  const { nowUs, wallUs } = moment;
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
  let granted = Math.min(want, Math.floor((rule.capacity - level) / COST));
  if (rule.dailyQuota !== null) granted = Math.min(granted, rule.dailyQuota - used);
  if (granted < 0) granted = 0;
  level += granted * COST;
  if (rule.dailyQuota !== null) used += granted;
  return { bucket: { level, atUs: nowUs, day, used }, granted };
}

/** The bucket without so many requests that were taken from it and did not come. Pure. */
export function putBack(bucket: Bucket, rule: LimitRule, count: number): Bucket {
  const used = rule.dailyQuota === null ? bucket.used : Math.max(0, bucket.used - count);
  return { ...bucket, level: Math.max(0, bucket.level - count * COST), used };
}

/** How many requests a bucket could take at once. Pure. */
export function roomOf({ level, used }: Bucket, rule: LimitRule): number {
  const room = Math.max(0, Math.floor((rule.capacity - level) / COST));
  return rule.dailyQuota === null ? room : Math.max(0, Math.min(room, rule.dailyQuota - used));
}

/** What is left after requests were taken, for headers and waits. */
export interface RemainingLimit {
  /** Requests of the burst that could pass at once. */
  readonly burst: number;
  /** Microseconds until one more than these could, by the burst alone. */
  readonly nextUs: number;
  /** Requests left of the day; null without a quota. */
  readonly daily: number | null;
  /** Microseconds until the day's quota begins anew. */
  readonly dayEndsInUs: number;
}

/** What a bucket leaves at the moment it is at; `wallUs` as in Moment. Pure. */
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

/** Microseconds after which a refused request could pass: the longer of what the burst and the day ask for. */
export function computeWaitUs({ burst, nextUs, daily, dayEndsInUs }: RemainingLimit): number {
  return Math.max(burst > 0 ? 0 : nextUs, daily === 0 ? dayEndsInUs : 0);
}
