import { type Candle, type CandleTrade, joinCandles, withTrade } from "./candle.ts";

/** A contest about a price (price/contest.ts): whose, and since when, Unix seconds. */
export interface ContestName {
  readonly mint: string;
  readonly since: number;
}

/** A candle in both readings of a price that may be taken back; undefined = no trade counts. */
export interface ContestedCandle {
  readonly candle: Candle | undefined;
  /** Undefined where no price is contested. Of several contests it belongs to the first. */
  readonly ifRefused: { readonly contest: ContestName; readonly candle: Candle | undefined } | undefined;
}

export interface ContestedTrade extends CandleTrade {
  readonly ifRefused: { readonly contest: ContestName; readonly trade: CandleTrade | null } | undefined;
}

export const NO_CANDLE: ContestedCandle = { candle: undefined, ifRefused: undefined };

/** The candle with one more trade, its latest. */
export function withContestedTrade(known: ContestedCandle, trade: ContestedTrade): ContestedCandle {
  const candle = withTrade(known.candle, trade);
  const contest = known.ifRefused?.contest ?? trade.ifRefused?.contest;
  if (contest === undefined) return { candle, ifRefused: undefined };
  const before = known.ifRefused === undefined ? known.candle : known.ifRefused.candle;
  const counted = trade.ifRefused === undefined ? trade : trade.ifRefused.trade;
  return {
    candle,
    ifRefused: { contest, candle: counted === null ? before : withTrade(before, counted) },
  };
}

/** Joins two consecutive candles. */
export function joinContested(first: ContestedCandle, second: ContestedCandle): ContestedCandle {
  const candle = joinTwo(first.candle, second.candle);
  const contest = first.ifRefused?.contest ?? second.ifRefused?.contest;
  if (contest === undefined) return { candle, ifRefused: undefined };
  return { candle, ifRefused: { contest, candle: joinTwo(refusedOf(first), refusedOf(second)) } };
}

/** The candle as the contest ended; unchanged while it has not. */
export function settleCandle(
  known: ContestedCandle,
  isRefused: (contest: ContestName) => boolean | undefined,
): ContestedCandle {
  if (known.ifRefused === undefined) return known;
  const verdict = isRefused(known.ifRefused.contest);
  if (verdict === undefined) return known;
  return { candle: verdict ? known.ifRefused.candle : known.candle, ifRefused: undefined };
}

function refusedOf({ candle, ifRefused }: ContestedCandle): Candle | undefined {
  return ifRefused === undefined ? candle : ifRefused.candle;
}

function joinTwo(first: Candle | undefined, second: Candle | undefined): Candle | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return joinCandles([first, second]);
}
