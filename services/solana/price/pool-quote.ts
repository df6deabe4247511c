import {
  MEDIAN_WINDOW_SECONDS,
  type PricePoint,
  trimPoints,
  trustedPrice,
} from "../../shared/pricing/median.ts";
import { roundDepth } from "../../shared/pricing/round-depth.ts";
import {
  ageShare,
  type DepthPoint,
  FULL_AGE_SECONDS,
  heldShare,
  LEAST_SHARE,
} from "../../shared/pricing/vote-share.ts";

/** A price this near to the last recorded one adds no point: the median needs no better, and rows stay small. */
const SAME_PRICE = 0.005;
/**
 * A pool that stopped trading (a completed bonding curve) must not keep a token's price for ever: after a minute without
 * a trade its weight halves every 24th of its age, every five minutes at least. A pool that has traded for a month may
 * rest for a day; one that is an hour old yields within minutes.
 */
const IDLE_SECONDS = 60;
const LEAST_HALF_LIFE_SECONDS = 300;
const HALF_LIVES_IN_AGE = 24;
const MOST_HALF_LIVES = 40;

/** What one pool says of a token. Amounts in whole tokens. */
export interface PoolQuote {
  readonly pool: string;
  /** The pool's other token, whose price is known otherwise. */
  readonly parent: string;
  /** Of the last trade: parent tokens for one token. */
  readonly ratio: number;
  /** What the pool holds of the token and of its parent. */
  readonly depth: number;
  readonly parentDepth: number;
  /** Unix seconds of the first trade seen, and of the last one. */
  readonly since: number;
  readonly time: number;
  /** Prices of the last five minutes, where they changed by more than SAME_PRICE; one a second at most. */
  readonly recent: readonly PricePoint[];
  /** Depths of the last five minutes, where they changed by more than roundDepth tells. */
  readonly depths: readonly DepthPoint[];
}

/** A trade as one of its tokens sees it. */
export type QuotedTrade = Pick<PoolQuote, "pool" | "parent" | "ratio" | "depth" | "parentDepth" | "time">;

/** The quote after a trade. */
export function withTrade(known: PoolQuote | undefined, trade: QuotedTrade): PoolQuote {
  const { pool, parent, ratio, depth, parentDepth, time } = trade;
  return {
    pool,
    parent,
    ratio,
    depth,
    parentDepth,
    since: known?.since ?? time,
    time,
    recent: addPrice(known?.recent ?? [], { time, price: ratio }),
    depths: addDepth(known?.depths ?? [], trade),
  };
}

/** The quote after liquidity came (amounts above zero) or went. */
export function withLiquidity(
  quote: PoolQuote,
  change: { amount: number; parentAmount: number; time: number },
): PoolQuote {
  const depth = Math.max(0, quote.depth + change.amount);
  const parentDepth = Math.max(0, quote.parentDepth + change.parentAmount);
  const depths = addDepth(quote.depths, { time: change.time, depth, parentDepth });
  const { pool, parent, ratio, since, time, recent } = quote;
  return { pool, parent, ratio, depth, parentDepth, since, time, recent, depths };
}

/** The same pool's quote of its other token. */
export function reversed(quote: PoolQuote, mint: string): PoolQuote {
  return {
    pool: quote.pool,
    parent: mint,
    ratio: 1 / quote.ratio,
    depth: quote.parentDepth,
    parentDepth: quote.depth,
    since: quote.since,
    time: quote.time,
    recent: quote.recent.map(({ time, price }) => ({ time, price: 1 / price })),
    depths: quote.depths.map(({ time, depth0, depth1 }) => ({ time, depth0: depth1, depth1: depth0 })),
  };
}

/** The last ratio, or the median of the last five minutes where it is far from it. */
export function trustedRatio({ recent, ratio, time }: PoolQuote, now: number): number {
  if (recent.length === 1) return ratio;
  return trustedPrice(recent.at(-1)?.price === ratio ? recent : [...recent, { time, price: ratio }], now);
}

/** The share of its present depth that a pool has held for five minutes. */
export function heldOf(quote: PoolQuote, now: number): number {
  return heldShare(quote.depths, now);
}

/** USD that a pool votes with: what it has held, by its age, less while it rests. */
export function weightOf(quote: PoolQuote, { widthUsd, now }: { widthUsd: number; now: number }): number {
  const share = heldOf(quote, now) * ageShare(now - quote.since);
  return widthUsd * Math.max(share, LEAST_SHARE) * awakeShare(quote, now);
}

function awakeShare({ since, time }: PoolQuote, now: number): number {
  const idle = now - time - IDLE_SECONDS;
  if (idle <= 0) return 1;
  const age = Math.min(time - since, FULL_AGE_SECONDS);
  const halfLife = Math.max(LEAST_HALF_LIFE_SECONDS, age / HALF_LIVES_IN_AGE);
  return 2 ** -Math.min(MOST_HALF_LIVES, idle / halfLife);
}

function addPrice(before: readonly PricePoint[], point: PricePoint): readonly PricePoint[] {
  const points = before.at(-1)?.time === point.time ? before.slice(0, -1) : [...before];
  const last = points.at(-1);
  if (last === undefined || Math.abs(point.price / last.price - 1) > SAME_PRICE) points.push(point);
  trimPoints(points, point.time);
  return points;
}

function addDepth(
  before: readonly DepthPoint[],
  { time, depth, parentDepth }: Pick<QuotedTrade, "time" | "depth" | "parentDepth">,
): readonly DepthPoint[] {
  const points = before.at(-1)?.time === time ? before.slice(0, -1) : [...before];
  const last = points.at(-1);
  if (last === undefined || !isSameDepth(last.depth0, depth) || !isSameDepth(last.depth1, parentDepth)) {
    points.push({ time, depth0: depth, depth1: parentDepth });
  }
  const from = time - MEDIAN_WINDOW_SECONDS;
  let drop = 0;
  while (drop + 1 < points.length && (points[drop + 1] as DepthPoint).time <= from) drop += 1;
  return drop > 0 ? points.slice(drop) : points;
}

function isSameDepth(a: number, b: number): boolean {
  return roundDepth(a) === roundDepth(b);
}
