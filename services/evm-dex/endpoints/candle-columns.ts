import { INTERVALS, type Interval, MAX_CANDLES } from "../../shared/contract/candle-params.ts";
import { defineColumns } from "../../shared/contract/define.ts";
import { oneOf } from "../../shared/contract/param.ts";
import { requiredWindow } from "../../shared/contract/window.ts";

export const candleWindow = {
  ...requiredWindow,
  interval: oneOf(INTERVALS, {
    description: `Length of a candle. So many may begin in the time range: ${MAX_CANDLES} of up to 15m, 666 of 30m, 333 of 1h, 166 of 2h, ${MAX_CANDLES} of 4h to 12h, 833 of 1d, 277 of 3d, 119 of 1w.`,
    example: "15m",
  }),
} as const;

/** What candles of both endpoints are. */
export const CANDLE_RULES =
  "Those that begin in the time range, each whole, the latest as far as it is indexed. Candles without a swap are omitted, and so is one that begins before the first indexed block or before what is still stored; a range of more candles than interval allows is refused. Candles start at whole multiples of the interval since 1970-01-01, weeks on Mondays (UTC). They are made of the last price of each minute (up to 2h), hour or day, whatever is stored so far back (minutes for 40 days, hours for 400, days for ever): resolutionSeconds says which. So what happens between two of these is not in highPrice and lowPrice, least of all what is done and undone within a block; closePrice is exact. Of Aerodrome v2 pools the single events are read, which are kept for EVM_RAW_DAYS (in long ranges every fifth minute or second hour); their candles of less than an hour have no volume and no tradeCount, and may be of minutes in which liquidity alone moved.";

type PriceNames = "open" | "high" | "low" | "close";

/** What the four prices of a candle are, in words. */
export const PRICE_WORDS: Readonly<Record<PriceNames, string>> = {
  open: "Price at which the candle begins: that of the last swap before it; of a pool's first candle, its first known one",
  high: "Highest of the opening and of the last prices of its minutes, hours or days",
  low: "Lowest of the opening and of the last prices of its minutes, hours or days",
  close: "Price after the last swap in the candle",
};

/** Behind the prices; `toCandleCells` fills them. */
export const candleColumns = defineColumns([
  {
    name: "volume",
    type: "Nullable(Float64)",
    unit: "USD",
    description:
      "Sum of the USD values of the pool's swaps in the candle; null where one has no value, and of Aerodrome v2 pools below an hour.",
  },
  { name: "unixTime", type: "Int64", unit: "Unix seconds", description: "Start of the candle." },
  { name: "interval", type: "String", description: "The requested interval." },
  {
    name: "tradeCount",
    type: "Nullable(UInt64)",
    unit: "swaps",
    description: "Number of the pool's swaps in the candle; null of Aerodrome v2 pools below an hour.",
  },
  {
    name: "resolutionSeconds",
    type: "UInt32",
    unit: "seconds",
    description:
      "Seconds between two prices that highPrice and lowPrice are the extremes of: 60, 3600 or 86400; of Aerodrome v2 pools also 300 or 7200.",
  },
]);

/** The cells behind the prices. */
export function toCandleCells(
  { start, swapCount, volumeUsd }: { start: number; swapCount: number | null; volumeUsd: number | null },
  { interval, span }: { interval: Interval; span: number },
) {
  return {
    volume: volumeUsd,
    unixTime: start,
    interval,
    tradeCount: swapCount,
    resolutionSeconds: span,
  };
}
