import { quantizeUsd } from "../../shared/pricing/quantize.ts";

/** Priced trades of a token over some time. Prices and volume in USD, the latter in steps of 2^-20 (exact sums). */
export interface Candle {
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volumeUsd: number;
  /** Whole tokens. */
  readonly volumeToken: number;
  readonly trades: number;
}

/** A priced trade from the token's side. */
export interface CandleTrade {
  readonly priceUsd: number;
  readonly valueUsd: number;
  /** Whole tokens. */
  readonly amount: number;
}

/** The candle with one more trade, its latest; undefined = no trade yet. */
export function withTrade(candle: Candle | undefined, trade: CandleTrade): Candle {
  const { priceUsd: price } = trade;
  const volumeUsd = quantizeUsd(trade.valueUsd);
  if (candle === undefined) {
    return {
      open: price,
      high: price,
      low: price,
      close: price,
      volumeUsd,
      volumeToken: trade.amount,
      trades: 1,
    };
  }
  return {
    open: candle.open,
    high: Math.max(candle.high, price),
    low: Math.min(candle.low, price),
    close: price,
    volumeUsd: candle.volumeUsd + volumeUsd,
    volumeToken: candle.volumeToken + trade.amount,
    trades: candle.trades + 1,
  };
}

/** Joins consecutive candles, oldest first; undefined without any. */
export function joinCandles(candles: Iterable<Candle>): Candle | undefined {
  let joined: Candle | undefined;
  for (const candle of candles) {
    joined =
      joined === undefined
        ? { ...candle }
        : {
            open: joined.open,
            high: Math.max(joined.high, candle.high),
            low: Math.min(joined.low, candle.low),
            close: candle.close,
            volumeUsd: joined.volumeUsd + candle.volumeUsd,
            volumeToken: joined.volumeToken + candle.volumeToken,
            trades: joined.trades + candle.trades,
          };
  }
  return joined;
}
