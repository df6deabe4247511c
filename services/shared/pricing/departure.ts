import { MEDIAN_WINDOW_SECONDS } from "./median.ts";

/** A pool that is further from the others than this has left them. */
export const AGREEMENT = 0.01;
/** How long it must hold, for each 1 % of difference, until it is followed. */
const SECONDS_PER_PERCENT = 60;
/** The hold starts again where the price goes on by more than this. */
const HOLD_BAND = 0.1;
/** Others with less than this share of all weight are no others. */
export const LEAST_OTHERS = 0.1;

/** Since when pools have left the others, and their price then. */
export interface Departure {
  /** Unix seconds. */
  readonly since: number;
  readonly usd: number;
}

interface Prices {
  /** USD by the pool that has more than half of the weight. */
  readonly pool: number;
  /** Weighted median of the others. */
  readonly others: number;
  /** USD used until now. */
  readonly used: number;
}

/**
 * Whether one pool has left the others: it is away from them and from the price in use, while they are still near
 * that price. Where the others have moved as well, there is nothing to wait for.
 */
export function hasLeft({ pool, others, used }: Prices): boolean {
  return distance(pool, others) > AGREEMENT && distance(others, used) < distance(pool, used);
}

/** Pools that may have gone away from where all agreed, in steps of any size. */
export interface Going {
  /** USD by the median of all. */
  readonly median: number;
  /** USD where all agreed. */
  readonly agreedUsd: number;
  /** What is within this of each other agrees. */
  readonly within: number;
}

/** Whether a pool has gone away from where all agreed, to the side of the median. */
export function hasGone(usd: number, { median, agreedUsd, within }: Going): boolean {
  return usd > agreedUsd === median > agreedUsd && distance(usd, agreedUsd) > within;
}

/**
 * Whether a pool has stayed while the median has gone: it is away from the median, has not gone along, and is nearer to
 * where all agreed. One that had been apart from all before does not say that they have left it.
 * @param isAnywhere whether it need not be nearer
 */
export function hasStayed(usd: number, going: Going, isAnywhere = false): boolean {
  const { median, agreedUsd, within } = going;
  if (distance(usd, median) <= within || hasGone(usd, going)) return false;
  return isAnywhere || distance(usd, agreedUsd) < distance(median, agreedUsd);
}

/** Whether a pool had an event of late: one that rests does not say that others have left it. */
export function isAwake(lastTime: number, now: number): boolean {
  return now - lastTime <= MEDIAN_WINDOW_SECONDS;
}

/** How long a pool must hold its price before it is followed: a minute for each 1 % of difference, compounded. */
export function holdSeconds(pool: number, others: number): number {
  return (SECONDS_PER_PERCENT * distance(pool, others)) / Math.log1p(0.01);
}

/** The departure as of now: a new one, or the one before while the pool stays within 10 % of its price then. */
export function continueDeparture(before: Departure | undefined, usd: number, now: number): Departure {
  if (before !== undefined && distance(usd, before.usd) <= Math.log1p(HOLD_BAND)) return before;
  return { since: now, usd };
}

/**
 * The departure while a pool that has left the others is not followed; undefined once it has held its price for long
 * enough.
 */
export function departureNow(
  before: Departure | undefined,
  { pool, others, now }: { pool: number; others: number; now: number },
): Departure | undefined {
  const departure = continueDeparture(before, pool, now);
  return now - departure.since < holdSeconds(pool, others) ? departure : undefined;
}

/** Whether the others of a pool are worth waiting for: less than half of all weight, but not too little of it. */
export function areOthers(weight: { readonly pool: number; readonly others: number }): boolean {
  const { pool, others } = weight;
  return others < pool && others >= LEAST_OTHERS * (others + pool);
}

/** |ln(a / b)|: about the relative difference where that is small. */
export function distance(a: number, b: number): number {
  return Math.abs(Math.log(a / b));
}
