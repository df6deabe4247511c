import { type PricePoint, trimPoints, trustedPrice } from "../../shared/pricing/median.ts";

/** USD stablecoins: 1 USD each. USDC and USDT. */
export const ANCHORS: readonly string[] = [
  "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  "Es9vMFrzaCERmJfrF4H2FYD4KCoNky11McCe8BenwNYB",
];

/** Below this much on the priced side, in USD, a pool prices nothing. */
export const MIN_DEPTH_USD = 10_000;
/** Pools between an anchor and a token at most. */
export const MAX_HOPS = 4;
/** With less of either side the ratio of raw units is rounding: such a trade sets no price. */
export const MIN_RAW_AMOUNT = 1_000n;
/** A pool of less than this share of the deepest one's depth shows no prices in candles. */
const CANDLE_DEPTH_SHARE = 0.1;
/**
 * A pool that stopped trading (a completed bonding curve, liquidity that left) must not keep a token's price for ever:
 * after a minute without a trade its depth halves every five minutes.
 */
const IDLE_SECONDS = 60;
const HALF_LIFE_SECONDS = 300;

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
  /** USD: amount × price of the side nearer to an anchor (of both, their mean); null while neither has a price. */
  readonly valueUsd: number | null;
  /** USD for one token as this trade paid it: valueUsd / amount. */
  readonly priceInUsd: number | null;
  readonly priceOutUsd: number | null;
  /** Whether the price counts in the token's candles: no dust, and no pool far thinner than the token's deepest. */
  readonly isReliableIn: boolean;
  readonly isReliableOut: boolean;
}

/** The source of a token's price: its price is `ratio` times its parent's. */
export interface PriceEntry {
  readonly mint: string;
  readonly parent: string;
  /** Of the last trade in the pool: parent tokens for one token. */
  readonly ratio: number;
  readonly pool: string;
  readonly depthUsd: number;
  readonly slot: number;
  /** One a second at most. The tracker changes it later: copy an entry to keep it. */
  readonly recent: PricePoint[];
}

interface CachedRatio {
  readonly entry: PriceEntry;
  readonly time: number;
  readonly ratio: number;
}

interface TokenPrice {
  readonly usd: number;
  readonly hops: number;
}

/**
 * USD prices of tokens, trade by trade in the order of the chain. The deepest pool against a token nearer to an anchor
 * prices a token; depth is what the pool holds of that nearer token, in USD. The ratio of the last trade counts if it
 * agrees within 10 % with the time-weighted median of the last 5 minutes, else the median (trustedPrice). A token whose
 * deepest pool is thinner than MIN_DEPTH_USD has an entry, but no price: the value of its trades is the priced token paid.
 */
export class PriceTracker {
  readonly #entries = new Map<string, PriceEntry>();
  readonly #changed = new Set<string>();
  readonly #trusted = new Map<string, CachedRatio>();
  readonly #anchors: ReadonlySet<string>;
  readonly #minDepthUsd: number;

  constructor(options: { anchors?: readonly string[]; minDepthUsd?: number } = {}) {
    this.#anchors = new Set(options.anchors ?? ANCHORS);
    this.#minDepthUsd = options.minDepthUsd ?? MIN_DEPTH_USD;
  }

  get size(): number {
    return this.#entries.size;
  }

  clear(): void {
    this.#entries.clear();
    this.#trusted.clear();
    this.#changed.clear();
  }

  /** Adds stored entries; they do not count as changed. */
  load(entries: Iterable<PriceEntry>): void {
    for (const entry of entries) this.#entries.set(entry.mint, entry);
  }

  entry(mint: string): PriceEntry | undefined {
    return this.#entries.get(mint);
  }

  /** Mints whose entry changed since the last call. */
  drainChanged(): string[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /** USD for one whole token as of `time`; null where no pool of sufficient depth leads to an anchor. */
  usd(mint: string, time: number): number | null {
    return this.#priced(mint, time)?.usd ?? null;
  }

  /** Values a trade at the prices before it, then updates them. */
  applyTrade(trade: PricedTrade): TradeValue {
    const { time } = trade;
    const pricedIn = this.#priced(trade.tokenIn, time);
    const pricedOut = this.#priced(trade.tokenOut, time);
    const valueUsd = computeValue(trade, pricedIn, pricedOut);
    const [baseIsIn, quote] = chooseQuote(pricedIn, pricedOut);
    const isReliable = quote !== undefined && this.#updateEntry(trade, { baseIsIn, quote });
    // The quote token's price is its own, however thin this pool is, unless it was averaged with the other's.
    const isMean = pricedIn !== undefined && pricedIn.hops === pricedOut?.hops;
    const isQuoteReliable = quote !== undefined && !trade.isDust && (isReliable || !isMean);
    return {
      valueUsd,
      priceInUsd: computePrice(valueUsd, trade.amountIn),
      priceOutUsd: computePrice(valueUsd, trade.amountOut),
      isReliableIn: baseIsIn ? isReliable : isQuoteReliable,
      isReliableOut: baseIsIn ? isQuoteReliable : isReliable,
    };
  }

  #priced(mint: string, time: number): TokenPrice | undefined {
    let usd = 1;
    let at = mint;
    for (let hops = 0; hops <= MAX_HOPS; hops++) {
      if (this.#anchors.has(at)) return Number.isFinite(usd) ? { usd, hops } : undefined;
      const entry = this.#entries.get(at);
      if (entry === undefined || entry.depthUsd < this.#minDepthUsd) return undefined;
      usd *= this.#trustedRatio(entry, time);
      at = entry.parent;
    }
    return undefined;
  }

  /** Computed once for an entry and a time: most trades of a block need the same few. */
  #trustedRatio(entry: PriceEntry, time: number): number {
    const known = this.#trusted.get(entry.mint);
    if (known?.entry === entry && known.time === time) return known.ratio;
    const ratio = trustedPrice(entry.recent, time);
    this.#trusted.set(entry.mint, { entry, time, ratio });
    return ratio;
  }

  /** Updates the entry of the side that the trade prices; returns whether the price counts in candles. */
  #updateEntry(trade: PricedTrade, side: { baseIsIn: boolean; quote: TokenPrice }): boolean {
    const { pool, slot, time } = trade;
    const base = side.baseIsIn ? trade.tokenIn : trade.tokenOut;
    const parent = side.baseIsIn ? trade.tokenOut : trade.tokenIn;
    const reserve = side.baseIsIn ? trade.reserveOut : trade.reserveIn;
    const ratio = side.baseIsIn ? trade.amountOut / trade.amountIn : trade.amountIn / trade.amountOut;
    const depthUsd = reserve === null ? 0 : reserve * side.quote.usd;
    const known = this.#entries.get(base);
    if (trade.isDust || !(ratio > 0) || !Number.isFinite(ratio) || !Number.isFinite(depthUsd)) return false;
    const isItsPool = known?.pool === pool && known.parent === parent;
    const knownDepth = known === undefined ? 0 : decayDepth(known, time);
    const isReliable = known === undefined || isItsPool || depthUsd >= knownDepth * CANDLE_DEPTH_SHARE;
    const isDeeper = known === undefined || depthUsd > knownDepth;
    if (this.#anchors.has(base) || !(isItsPool || isDeeper) || this.#dependsOn(parent, base))
      return isReliable;
    // Ratios against another token, or in another pool, are no history of this one.
    const recent = isItsPool ? known.recent : [];
    // The last trade of a second counts: the earlier prices lasted no time.
    if (recent[recent.length - 1]?.time === time) recent.pop();
    recent.push({ time, price: ratio });
    trimPoints(recent, time);
    this.#entries.set(base, { mint: base, parent, ratio, pool, depthUsd, slot, recent });
    this.#changed.add(base);
    return isReliable;
  }

  /** Whether the price of `mint` depends on that of `other`. */
  #dependsOn(mint: string, other: string): boolean {
    let at: string | undefined = mint;
    for (let hops = 0; at !== undefined && hops <= MAX_HOPS; hops++) {
      if (at === other) return true;
      at = this.#anchors.has(at) ? undefined : this.#entries.get(at)?.parent;
    }
    return false;
  }
}

function decayDepth(entry: PriceEntry, time: number): number {
  const last = entry.recent[entry.recent.length - 1]?.time ?? time;
  const idle = Math.max(0, time - last - IDLE_SECONDS);
  return entry.depthUsd * 2 ** (-idle / HALF_LIFE_SECONDS);
}

/** The side nearer to an anchor is the quote; between two equally near ones, what went in. */
function chooseQuote(
  pricedIn: TokenPrice | undefined,
  pricedOut: TokenPrice | undefined,
): [baseIsIn: boolean, quote: TokenPrice | undefined] {
  if (pricedOut === undefined) return [false, pricedIn];
  if (pricedIn === undefined) return [true, pricedOut];
  return pricedOut.hops < pricedIn.hops ? [true, pricedOut] : [false, pricedIn];
}

function computeValue(
  trade: PricedTrade,
  pricedIn: TokenPrice | undefined,
  pricedOut: TokenPrice | undefined,
): number | null {
  const valueIn = pricedIn && trade.amountIn * pricedIn.usd;
  const valueOut = pricedOut && trade.amountOut * pricedOut.usd;
  let value = valueIn ?? valueOut;
  if (pricedIn && pricedOut && valueIn !== undefined && valueOut !== undefined) {
    if (pricedIn.hops === pricedOut.hops) value = (valueIn + valueOut) / 2;
    else value = pricedIn.hops < pricedOut.hops ? valueIn : valueOut;
  }
  return value !== undefined && Number.isFinite(value) ? value : null;
}

function computePrice(valueUsd: number | null, amount: number): number | null {
  if (valueUsd === null || amount <= 0) return null;
  const price = valueUsd / amount;
  return Number.isFinite(price) ? price : null;
}
