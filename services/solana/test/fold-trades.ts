import { INTERVAL_SECONDS, type Interval } from "../../shared/contract/candle-params.ts";
import { DAY } from "./random-world.ts";
import type { Reference } from "./reference.ts";

/** 1970-01-05, a Monday. */
const FIRST_MONDAY = 4 * DAY;

export function startOf(time: number, interval: Interval): number {
  const seconds = INTERVAL_SECONDS[interval];
  const origin = interval === "1w" ? FIRST_MONDAY : 0;
  return Math.floor((time - origin) / seconds) * seconds + origin;
}

export interface Candle {
  open: number;
  high: number;
  low: number;
  close: number;
  volumeUsd: number;
  volumeToken: number;
  trades: number;
}

/** Of each candle's trades, one after the other. */
export function foldTrades(reference: Reference, mint: string, interval: Interval): Map<number, Candle> {
  const candles = new Map<number, Candle>();
  for (const { time, priceUsd, valueUsd, amount, ...trade } of reference.trades) {
    if (trade.mint !== mint) continue;
    const start = startOf(time, interval);
    const known = candles.get(start);
    const value = Math.round(valueUsd * 2 ** 20) / 2 ** 20;
    candles.set(start, {
      open: known?.open ?? priceUsd,
      high: Math.max(known?.high ?? 0, priceUsd),
      low: Math.min(known?.low ?? Number.POSITIVE_INFINITY, priceUsd),
      close: priceUsd,
      volumeUsd: (known?.volumeUsd ?? 0) + value,
      volumeToken: (known?.volumeToken ?? 0) + amount,
      trades: (known?.trades ?? 0) + 1,
    });
  }
  return candles;
}
