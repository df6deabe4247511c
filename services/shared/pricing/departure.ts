/** A pool that is further from the others than this has left them. */
export const AGREEMENT = 0.01;
/** How long it must hold, for each 1 % of difference, until it is followed. */
const SECONDS_PER_PERCENT = 60;
/** The hold starts again where the price goes on by more than this. */
const HOLD_BAND = 0.1;
/** Others with less than this share of all weight are no others. */
export const LEAST_OTHERS = 0.1;

/** Since when one pool has left the others, and its price then. */
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
