import { INTERVAL_SECONDS, type Interval } from "../../shared/contract/candle-params.ts";
import type { CandleTrade } from "../metrics/candle.ts";
import { nameOf } from "../store/candle-row.ts";
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

/**
 * Of each candle's trades, one after the other, each as its contest ended. Candles of several contests are left out: they
 * belong to the first one (metrics/contested-candle.ts), by the minutes, hours and days that are stored.
 */
export function foldTrades(
  reference: Reference,
  mint: string,
  interval: Interval,
): Map<number, Candle | "several contests"> {
  const candles = new Map<number, Candle | "several contests">();
  const contests = new Map<number, string>();
  for (const { time, ifRefused, ...told } of reference.trades) {
    if (told.mint !== mint) continue;
    const start = startOf(time, interval);
    if (ifRefused !== undefined) {
      const name = nameOf(ifRefused.contest);
      if ((contests.get(start) ?? name) !== name) candles.set(start, "several contests");
      contests.set(start, name);
    }
    const trade = ifRefused !== undefined && reference.isRefused(ifRefused.contest) ? ifRefused.trade : told;
    const known = candles.get(start);
    if (trade !== null && known !== "several contests") candles.set(start, withTrade(known, trade));
  }
  return candles;
}

function withTrade(known: Candle | undefined, { priceUsd, valueUsd, amount }: CandleTrade): Candle {
  const value = Math.round(valueUsd * 2 ** 20) / 2 ** 20;
  return {
    open: known?.open ?? priceUsd,
    high: Math.max(known?.high ?? 0, priceUsd),
    low: Math.min(known?.low ?? Number.POSITIVE_INFINITY, priceUsd),
    close: priceUsd,
    volumeUsd: (known?.volumeUsd ?? 0) + value,
    volumeToken: (known?.volumeToken ?? 0) + amount,
    trades: (known?.trades ?? 0) + 1,
  };
}
