import { createRandom, type Random } from "../../deploy/devnet/random.ts";
import { encodeBase58 } from "../../services/shared/contract/base58.ts";
import type { PoolTransactionRow, TokenTransactionRow } from "../../services/solana/store/collections.ts";
import { toTokenRows } from "../../services/solana/store/token-sides.ts";

export const SOL = "So11111111111111111111111111111111111111112";
export const USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
export const FIRST_SLOT = 300_000_000;
export const FIRST_TIME = 1_735_689_600;
/** Slots take 0.4 s. */
const SLOTS_A_SECOND = 2.5;
/** As on mainnet: some 200 trades, each a row for two tokens. */
const TRADES_A_SLOT = 200;
const OTHER_TOKENS = 50_000;

export function timeOf(slot: number): number {
  return FIRST_TIME + Math.floor((slot - FIRST_SLOT) / SLOTS_A_SECOND);
}

interface Market {
  readonly mint: string;
  readonly dex: number;
  readonly pools: readonly string[];
  readonly quote: string;
}

/** What is written for some slots. */
export interface Slots {
  readonly lastSlot: number;
  readonly tokenRows: TokenTransactionRow[];
  readonly poolRows: PoolTransactionRow[];
}

/**
 * Trades of 50,000 tokens against SOL and USDC, as uneven as those of the chain: the k-th token has a k-th of the first
 * one's, SOL is in four of five, and 3 % of rows are liquidity.
 */
export class SyntheticSolana {
  readonly markets: readonly Market[];
  readonly #random: Random;
  readonly #shares: Float64Array;
  readonly #texts: readonly string[];

  constructor() {
    const random = createRandom(11);
    this.#random = random;
    const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    this.#texts = Array.from({ length: 65_536 }, () =>
      Array.from({ length: 4 }, () => alphabet[random.below(58)]).join(""),
    );
    this.markets = Array.from({ length: OTHER_TOKENS }, () => ({
      mint: this.#address(),
      dex: this.#pick([0.25, 0.35, 0.55]),
      pools: Array.from({ length: 1 + random.below(3) }, () => this.#address()),
      quote: random.below(5) === 0 ? USDC : SOL,
    }));
    this.#shares = new Float64Array(OTHER_TOKENS);
    let total = 0;
    for (let i = 0; i < OTHER_TOKENS; i++) {
      total += 1 / (i + 1);
      this.#shares[i] = total;
    }
  }

  slots(range: { fromSlot: number; count: number }): Slots {
    const lastSlot = range.fromSlot + range.count - 1;
    const poolRows: PoolTransactionRow[] = [];
    for (let slot = range.fromSlot; slot <= lastSlot; slot++) {
      for (let i = 0; i < TRADES_A_SLOT; i++) poolRows.push(this.#row(slot, i));
    }
    return { lastSlot, poolRows, tokenRows: poolRows.flatMap(toTokenRows) };
  }

  #row(slot: number, transactionIndex: number): PoolTransactionRow {
    const random = this.#random;
    const { mint, quote, pools, dex } = this.#market();
    const isBuy = random.below(2) === 0;
    const kind = random.below(100) < 97 ? 0 : 1 + random.below(2);
    // Some cents to some 100,000 USD, around 40.
    const valueUsd = random.below(100) < 96 ? Math.exp(3.7 + 2 * random.normal()) : null;
    const [quotePrice, price] = [quote === SOL ? 200 : 1, 0.001 + random.below(1_000) / 1e4];
    const [quoteAmount, amount] = [(valueUsd ?? 30) / quotePrice, (valueUsd ?? 30) / price];
    const known = (usd: number) => (valueUsd === null ? null : usd);
    const [tokenIn, amountIn, priceInUsd] = [quote, quoteAmount, known(quotePrice)];
    const [tokenOut, amountOut, priceOutUsd] = [mint, amount, known(price)];
    const placed = {
      pool: pools[random.below(3) % pools.length] as string,
      slot,
      transactionIndex,
      instructionIndex: random.below(30),
      signature: this.#text(22),
      leg: 0,
      time: timeOf(slot),
      kind,
      dex,
      valueUsd: valueUsd !== null && kind > 0 ? valueUsd * 2 : valueUsd,
      account: this.#text(11),
    };
    if (isBuy || kind > 0)
      return { ...placed, tokenIn, amountIn, priceInUsd, tokenOut, amountOut, priceOutUsd };
    return {
      ...placed,
      ...{ tokenIn: tokenOut, amountIn: amountOut, priceInUsd: priceOutUsd },
      ...{ tokenOut: tokenIn, amountOut: amountIn, priceOutUsd: priceInUsd },
    };
  }

  #market(): Market {
    const total = this.#shares[OTHER_TOKENS - 1] as number;
    const at = this.#random.next() * total;
    let [low, high] = [0, OTHER_TOKENS - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#shares[middle] as number) < at) low = middle + 1;
      else high = middle;
    }
    return this.markets[low] as Market;
  }

  #pick(bounds: readonly number[]): number {
    const at = this.#random.next();
    const found = bounds.findIndex((bound) => at < bound);
    return found === -1 ? bounds.length : found;
  }

  #address(): string {
    return encodeBase58(Uint8Array.from({ length: 32 }, () => this.#random.below(256)));
  }

  /** Of so many runs of four characters. */
  #text(runs: number): string {
    let text = "";
    for (let i = 0; i < runs; i++) text += this.#texts[this.#random.below(65_536)];
    return text;
  }
}
