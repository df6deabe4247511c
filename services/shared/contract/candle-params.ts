import { parameterError } from "./parameter-error.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Length of a candle in seconds. */
export const INTERVAL_SECONDS = {
  "1m": MINUTE,
  "5m": 5 * MINUTE,
  "15m": 15 * MINUTE,
  "30m": 30 * MINUTE,
  "1h": HOUR,
  "2h": 2 * HOUR,
  "4h": 4 * HOUR,
  "6h": 6 * HOUR,
  "8h": 8 * HOUR,
  "12h": 12 * HOUR,
  "1d": DAY,
  "3d": 3 * DAY,
  "1w": 7 * DAY,
} as const;

export type Interval = keyof typeof INTERVAL_SECONDS;

export const INTERVALS = [
  "1m",
  "5m",
  "15m",
  "30m",
  "1h",
  "2h",
  "4h",
  "6h",
  "8h",
  "12h",
  "1d",
  "3d",
  "1w",
] as const satisfies readonly Interval[];

export const MAX_CANDLES = 1000;

/** 1970-01-05, the first Monday: weeks begin on Mondays, every other interval counts from 1970-01-01. */
const FIRST_MONDAY = 4 * DAY;

/** Start of the candle that holds `time`, both in Unix seconds. */
export function candleStart(time: number, interval: Interval): number {
  const seconds = INTERVAL_SECONDS[interval];
  const origin = interval === "1w" ? FIRST_MONDAY : 0;
  return Math.floor((time - origin) / seconds) * seconds + origin;
}

export interface CandleRange {
  readonly after_time: number;
  readonly before_time: number;
  readonly interval: Interval;
}

/** Start of the first candle that begins at `time` or later. */
export function firstCandle(time: number, interval: Interval): number {
  return candleStart(time - 1, interval) + INTERVAL_SECONDS[interval];
}

/** Candles that begin in the range, empty ones included. */
export function countCandles({ after_time, before_time, interval }: CandleRange): number {
  const span = firstCandle(before_time, interval) - firstCandle(after_time, interval);
  return span / INTERVAL_SECONDS[interval];
}

/** Throws bad_request for a range of more candles than one answer holds. */
export function checkCandles(range: CandleRange, most: number = MAX_CANDLES): void {
  const candles = countCandles(range);
  if (candles <= most) return;
  throw parameterError(
    "interval",
    `"${range.interval}" makes ${candles} candles of this time range, which is above ${most}`,
  );
}
