import {
  type CandleRange,
  checkCandles,
  INTERVAL_SECONDS,
  type Interval,
  MAX_CANDLES,
} from "../../shared/contract/candle-params.ts";

/** Lengths of stored buckets, in seconds. */
const SPANS = [60, 3_600, 86_400] as const;
type CandleSpan = (typeof SPANS)[number];

/** Buckets that one series of prices is read from at most: a request reads those of the pools on a token's path too. */
const MAX_BUCKETS = 20_000;
/** From this interval on the prices of hours are enough for high and low. */
const HOURLY_FROM_SECONDS = 4 * 3_600;

/** Lengths of the buckets that candles of an interval can be made of, the preferred one first. */
export function spansOf(interval: Interval): readonly CandleSpan[] {
  const seconds = INTERVAL_SECONDS[interval];
  const finest = seconds >= HOURLY_FROM_SECONDS ? 3_600 : 60;
  return SPANS.filter((span) => span >= finest && seconds % span === 0);
}

/** Candles of a request at most: as many as their buckets are not too many. */
export function maxCandlesOf(interval: Interval): number {
  const [span = 60] = spansOf(interval);
  return Math.min(MAX_CANDLES, Math.floor((MAX_BUCKETS * span) / INTERVAL_SECONDS[interval]));
}

/** Throws bad_request for a range of more candles than are read at once. */
export function checkCandleRange(range: CandleRange): void {
  checkCandles(range, maxCandlesOf(range.interval));
}
