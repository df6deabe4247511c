import { candleStart, type Interval } from "../../shared/contract/candle-params.ts";

/** The last price of a pool in one bucket, and its swaps. */
export interface PriceBucket {
  /** Unix seconds, a multiple of the span. */
  readonly start: number;
  /** token1 per token0. */
  readonly price: number;
  /** Null where buckets of this kind of pool do not hold them. */
  readonly swapCount: number | null;
  /** Null where a swap has no value, too. */
  readonly volumeUsd: number | null;
}

/** Prices at one moment; usd is null while the other token has no price. */
interface Quote {
  /** Of the base token, in the other one. */
  readonly pair: number;
  readonly usd: number | null;
}

export interface PoolCandle {
  /** Unix seconds. */
  readonly start: number;
  readonly open: Quote;
  readonly high: Quote;
  readonly low: Quote;
  readonly close: Quote;
  readonly swapCount: number | null;
  readonly volumeUsd: number | null;
}

/**
 * Candles of a pool, oldest first. One opens at the price that the last one closed at, as a pool does; only the first that a
 * pool ever has opens at its own first price. High and low are those of the opening and of each bucket's last price.
 * @param at.buckets those in the range, oldest first
 * @param at.before the last price before them, token1 per token0
 * @param at.usdAt USD of the other token after the bucket that holds a time
 */
export function poolCandles(at: {
  readonly buckets: readonly PriceBucket[];
  readonly before: number | undefined;
  readonly interval: Interval;
  readonly base: 0 | 1;
  readonly usdAt: (time: number) => number | undefined;
}): PoolCandle[] {
  const { interval, base } = at;
  const quoteAt = (price: number, time: number): Quote => {
    const pair = base === 0 ? price : 1 / price;
    const otherUsd = at.usdAt(time);
    return { pair, usd: otherUsd === undefined ? null : finite(pair * otherUsd) };
  };
  const candles: PoolCandle[] = [];
  let before = at.before !== undefined && isPrice(at.before) ? at.before : undefined;
  for (const bucket of at.buckets) {
    if (!isPrice(bucket.price)) continue;
    const start = candleStart(bucket.start, interval);
    const now = quoteAt(bucket.price, bucket.start);
    const last = candles.at(-1);
    if (last?.start === start) candles[candles.length - 1] = joined(last, now, bucket);
    else {
      const open = before === undefined ? now : quoteAt(before, start - 1);
      const { swapCount, volumeUsd } = bucket;
      const [high, low] = [extreme(Math.max, open, now), extreme(Math.min, open, now)];
      candles.push({ start, open, high, low, close: now, swapCount, volumeUsd });
    }
    before = bucket.price;
  }
  return candles;
}

function joined(candle: PoolCandle, now: Quote, bucket: PriceBucket): PoolCandle {
  return {
    start: candle.start,
    open: candle.open,
    high: extreme(Math.max, candle.high, now),
    low: extreme(Math.min, candle.low, now),
    close: now,
    swapCount: add(candle.swapCount, bucket.swapCount),
    volumeUsd: add(candle.volumeUsd, bucket.volumeUsd),
  };
}

/** Of prices in USD all must be known: a candle has all four or none. */
function extreme(choose: (...values: number[]) => number, a: Quote, b: Quote): Quote {
  const usd = a.usd === null || b.usd === null ? null : choose(a.usd, b.usd);
  return { pair: choose(a.pair, b.pair), usd };
}

function add(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

function isPrice(price: number): boolean {
  return price > 0 && Number.isFinite(price) && Number.isFinite(1 / price);
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** Prices that hold from a bucket on until the next one. */
export class PriceSteps {
  readonly #starts: readonly number[];
  readonly #prices: readonly number[];
  readonly #before: number | undefined;

  /** @param points oldest first */
  constructor(points: readonly { readonly start: number; readonly price: number }[], before?: number) {
    this.#starts = points.map(({ start }) => start);
    this.#prices = points.map(({ price }) => price);
    this.#before = before;
  }

  /** The price of the last bucket that begins at `time` or before; undefined before the first known one. */
  at(time: number): number | undefined {
    let [low, high] = [0, this.#starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] as number) <= time) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? this.#before : this.#prices[low - 1];
  }
}
