import { VALUE_BOUND, type ValuedSide, valuePrices } from "../../shared/pricing/value-prices.ts";
import { candlePrice, candlePriceIfRefused } from "./candle-price.ts";
import { computePriceUsd, computeValueUsd } from "./limits.ts";
import { type QuotedTrade, withLiquidity, withTrade } from "./pool-quote.ts";
import { type Refusal, sumOfWeights } from "./pool-vote.ts";
import { PriceBook } from "./price-book.ts";
import type { TokenPrice } from "./token-votes.ts";

/** A pool of less than this share of the widest one's depth, or of all weight, shows no prices in candles by itself. */
const CANDLE_SHARE = 0.1;
/** A token rests on the other one of a pool from then on where that one is wider by this factor. */
const TURN_FACTOR = 2;

/** One trade: amounts and reserves in whole tokens. */
export interface PricedTrade {
  readonly pool: string;
  readonly tokenIn: string;
  readonly amountIn: number;
  readonly tokenOut: string;
  readonly amountOut: number;
  /** What the pool holds afterwards; null if unknown: then the trade sets no price. */
  readonly reserveIn: number | null;
  readonly reserveOut: number | null;
  /** Whether either raw amount is below MIN_RAW_AMOUNT. */
  readonly isDust: boolean;
  readonly slot: number;
  /** Unix seconds. */
  readonly time: number;
}

/** The value of a trade. */
export interface TradeValue {
  /**
   * USD: amount × price of the token with the wider pools (of two anchors their mean), no more than what supports both
   * (valuePrices); null while neither has a price.
   */
  readonly valueUsd: number | null;
  /** USD for one token as this trade paid it: valueUsd / amount. */
  readonly priceInUsd: number | null;
  readonly priceOutUsd: number | null;
  /** Whether the price counts in the token's candles: no dust, no pool that says little of the token. */
  readonly isReliableIn: boolean;
  readonly isReliableOut: boolean;
  /** Its prices as candles show them. */
  readonly candle: CandlePrices;
  /** The same if the price is taken back that it was valued by; undefined where none may be. */
  readonly ifRefused:
    | (CandlePrices & Pick<TradeValue, "valueUsd"> & Pick<Refusal, "mint" | "since">)
    | undefined;
}

/** USD for one token of either side. */
interface CandlePrices {
  readonly priceInUsd: number | null;
  readonly priceOutUsd: number | null;
}

type SidePrices = Record<"priceIn" | "priceOut", TokenPrice | undefined>;

/** Amounts of a pool's two tokens, whole, that came or went at once; `""` for a token that is not named. */
export interface LiquidityMove {
  readonly pool: string;
  readonly tokenA: string;
  readonly amountA: number;
  readonly tokenB: string;
  readonly amountB: number;
  readonly isAdded: boolean;
  readonly slot: number;
  readonly time: number;
}

/**
 * USD prices of tokens, trade by trade in the order of the chain (docs/prices-solana.md). A token's price is the median
 * of its pools' prices, by the depth that each has held and by its age. A pool's price is that of its last trade where it
 * agrees within 10 % with the time-weighted median of the last five minutes, else the median. A token without a pool of
 * MIN_DEPTH_USD has no price: the value of its trades is the priced token paid.
 */
export class PriceTracker extends PriceBook {
  /** USD for one whole token as of `time`; null where no pool of sufficient depth leads to an anchor. */
  usd(mint: string, time: number): number | null {
    return this.price(mint, time)?.usd ?? null;
  }

  /** Values a trade at the prices before it, then updates them. */
  applyTrade(trade: PricedTrade): TradeValue {
    const { time, tokenIn, tokenOut } = trade;
    const before = { priceIn: this.price(tokenIn, time), priceOut: this.price(tokenOut, time) };
    const { valueUsd, isBounded } = computeValue(trade, before);
    const [isBaseIn, quote] = this.#chooseQuote(trade, before);
    const isFirm = quote !== undefined && this.#update(trade, { isBaseIn, quote });
    const isReliable = isFirm && !isBounded;
    // The quote token's price is its own, however thin this pool is, unless it was averaged with the other's.
    const isMean = this.isAnchor(tokenIn) && this.isAnchor(tokenOut);
    const isQuoteReliable = quote !== undefined && !trade.isDust && !isBounded && (isReliable || !isMean);
    const priceInUsd = computePriceUsd(valueUsd, trade.amountIn);
    const priceOutUsd = computePriceUsd(valueUsd, trade.amountOut);
    const candle = {
      priceInUsd: this.#candlePrice(priceInUsd, { trade, mint: tokenIn, bound: candlePrice }),
      priceOutUsd: this.#candlePrice(priceOutUsd, { trade, mint: tokenOut, bound: candlePrice }),
    };
    return {
      valueUsd,
      priceInUsd,
      priceOutUsd,
      isReliableIn: isBaseIn ? isReliable : isQuoteReliable,
      isReliableOut: isBaseIn ? isQuoteReliable : isReliable,
      candle,
      ifRefused: this.#valueIfRefused(trade, before),
    };
  }

  /** Of a trade that is applied, by the prices before it. */
  #valueIfRefused(trade: PricedTrade, before: SidePrices): TradeValue["ifRefused"] {
    const { tokenIn, tokenOut, amountIn, amountOut, time } = trade;
    // The trade itself may be the one that makes a price contested.
    const refusal =
      before.priceIn?.refusal ??
      before.priceOut?.refusal ??
      this.price(tokenIn, time)?.refusal ??
      this.price(tokenOut, time)?.refusal;
    if (refusal === undefined) return undefined;
    const { valueUsd } = computeValue(trade, {
      priceIn: refused(before.priceIn),
      priceOut: refused(before.priceOut),
    });
    const bound = candlePriceIfRefused;
    const [inUsd, outUsd] = [computePriceUsd(valueUsd, amountIn), computePriceUsd(valueUsd, amountOut)];
    const priceInUsd = this.#candlePrice(inUsd, { trade, mint: tokenIn, bound });
    const priceOutUsd = this.#candlePrice(outUsd, { trade, mint: tokenOut, bound });
    return { mint: refusal.mint, since: refusal.since, valueUsd, priceInUsd, priceOutUsd };
  }

  #candlePrice(
    usd: number | null,
    { trade, mint, bound }: { trade: PricedTrade; mint: string; bound: typeof candlePrice },
  ): number | null {
    if (usd === null) return null;
    const { pool, time } = trade;
    return bound(usd, { pool, price: this.price(mint, time), votes: this.votes(mint, time) });
  }

  /** USD for one token of either side of a liquidity change: null without a price, and no more than what supports it. */
  liquidityPrices(move: LiquidityMove): { readonly usdA: number | null; readonly usdB: number | null } {
    const { pool, tokenA, tokenB, time } = move;
    const sideOf = (mint: string, amount: number) => {
      const price = this.price(mint, time);
      // Its own pool counts here: most tokens have no other.
      return { amount, usd: price?.usd ?? null, supportUsd: price?.depthUsd ?? 0 };
    };
    const ratio = this.quote(tokenA, pool)?.ratio ?? invert(this.quote(tokenB, pool)?.ratio);
    const { usd0, usd1 } = valuePrices(sideOf(tokenA, move.amountA), sideOf(tokenB, move.amountB), ratio);
    return { usdA: usd0, usdB: usd1 };
  }

  /** What a pool holds after liquidity came or went: a drained pool must not vote until it trades again. */
  applyLiquidity({ pool, tokenA, amountA, tokenB, amountB, isAdded, slot, time }: LiquidityMove): void {
    const sign = isAdded ? 1 : -1;
    for (const [mint, own, other] of [
      [tokenA, amountA, amountB],
      [tokenB, amountB, amountA],
    ] as const) {
      const quote = this.quote(mint, pool);
      if (quote === undefined) continue;
      const change = { amount: sign * own, parentAmount: sign * other, time };
      this.put(mint, withLiquidity(quote, change), { slot, time });
    }
  }

  /**
   * Which token's price rests on the other's: that of the narrower pools. Two tokens keep their direction while neither is
   * far wider; between two that are equal what goes in is the money.
   */
  #chooseQuote(
    { tokenIn, tokenOut }: PricedTrade,
    { priceIn, priceOut }: SidePrices,
  ): [isBaseIn: boolean, quote: TokenPrice | undefined] {
    if (priceOut === undefined) return [false, priceIn];
    if (priceIn === undefined) return [true, priceOut];
    let isBaseIn = isWider(priceOut, priceIn);
    if (this.restsOn(tokenIn, tokenOut)) isBaseIn = priceIn.widthUsd <= TURN_FACTOR * priceOut.widthUsd;
    else if (this.restsOn(tokenOut, tokenIn)) isBaseIn = priceOut.widthUsd > TURN_FACTOR * priceIn.widthUsd;
    return isBaseIn ? [true, priceOut] : [false, priceIn];
  }

  /** Updates the quote of the side that the trade prices; returns whether the price counts in candles. */
  #update(trade: PricedTrade, side: { isBaseIn: boolean; quote: TokenPrice }): boolean {
    const { pool, slot, time, isDust } = trade;
    const { isBaseIn } = side;
    const base = isBaseIn ? trade.tokenIn : trade.tokenOut;
    const parent = isBaseIn ? trade.tokenOut : trade.tokenIn;
    const [depth, parentDepth] = isBaseIn
      ? [trade.reserveIn, trade.reserveOut]
      : [trade.reserveOut, trade.reserveIn];
    const ratio = isBaseIn ? trade.amountOut / trade.amountIn : trade.amountIn / trade.amountOut;
    if (isDust || !(ratio > 0 && Number.isFinite(ratio))) return false;
    if (depth === null || parentDepth === null) return this.votes(base, time).length === 0;
    const isReliable = this.#isReliable({ pool, parent, ratio, depth, parentDepth, time }, { base, ...side });
    if (this.isAnchor(base)) return isReliable;
    if (this.restsOn(parent, base)) {
      if (this.restsOn(parent, base, { exceptDirectly: true })) return isReliable;
      this.turn(parent, base, { slot, time });
    }
    this.put(base, withTrade(this.quote(base, pool), { pool, parent, ratio, depth, parentDepth, time }), {
      slot,
      time,
    });
    return isReliable;
  }

  /**
   * A pool far thinner than the widest shows no prices in candles; nor does one that contradicts the token's price and
   * has little of the weight.
   */
  #isReliable(trade: QuotedTrade, { base, quote }: { base: string; quote: TokenPrice }): boolean {
    const usd = trade.ratio * quote.usd;
    const widthUsd = Math.min(trade.depth * usd, trade.parentDepth * quote.usd, quote.widthUsd);
    const votes = this.votes(base, trade.time);
    const used = this.usd(base, trade.time);
    const own = votes.find((vote) => vote.quote.pool === trade.pool);
    for (const vote of votes) {
      if (vote !== own && widthUsd < vote.widthUsd * CANDLE_SHARE) return false;
    }
    if (used === null || (usd <= used * VALUE_BOUND && usd >= used / VALUE_BOUND)) return true;
    return (own?.weight ?? 0) >= CANDLE_SHARE * sumOfWeights(votes);
  }
}

/** The price that counts if the contest is lost. Not for those without: two anchors are told by being the same object. */
function refused(price: TokenPrice | undefined): TokenPrice | undefined {
  if (price?.refusal === undefined) return price;
  return { ...price, usd: price.usd * price.refusal.factor, refusal: undefined };
}

function isWider(a: TokenPrice, b: TokenPrice): boolean {
  return a.widthUsd === b.widthUsd ? a.hops < b.hops : a.widthUsd > b.widthUsd;
}

function invert(ratio: number | undefined): number | undefined {
  return ratio === undefined ? undefined : 1 / ratio;
}

function computeValue(
  { pool, amountIn, amountOut }: PricedTrade,
  { priceIn, priceOut }: SidePrices,
): { readonly valueUsd: number | null; readonly isBounded: boolean } {
  const sideIn = sideOutside(pool, { amount: amountIn, price: priceIn });
  const sideOut = sideOutside(pool, { amount: amountOut, price: priceOut });
  const { usd0, usd1 } = valuePrices(sideIn, sideOut, amountOut / amountIn);
  const valueIn = computeValueUsd(amountIn, usd0);
  const valueOut = computeValueUsd(amountOut, usd1);
  if (priceIn !== undefined && priceIn === priceOut) {
    const isKnown = valueIn !== null && valueOut !== null;
    return { valueUsd: isKnown ? (valueIn + valueOut) / 2 : null, isBounded: false };
  }
  const isIn = priceOut === undefined || (priceIn !== undefined && isWider(priceIn, priceOut));
  return isIn
    ? { valueUsd: valueIn, isBounded: usd0 !== sideIn.usd }
    : { valueUsd: valueOut, isBounded: usd1 !== sideOut.usd };
}

/** What supports a token outside of a pool: where the pool is its deepest, all others; otherwise the deepest. */
function sideOutside(
  pool: string,
  { amount, price }: { amount: number; price: TokenPrice | undefined },
): ValuedSide {
  if (price === undefined) return { amount, usd: null, supportUsd: 0 };
  return { amount, usd: price.usd, supportUsd: price.pool === pool ? price.restUsd : price.depthUsd };
}
