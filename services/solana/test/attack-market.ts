import type { DecodedTransaction, LiquidityChange, Trade } from "../decode/model.ts";
import { WRAPPED_SOL } from "../decode/model.ts";
import { buildBlockRows } from "../ingest/block-rows.ts";
import type { TimedBlock } from "../ingest/timed-block.ts";
import { PriceTracker } from "../price/price-tracker.ts";
import type { PoolTransactionRow } from "../store/collections.ts";
import { deriveAddress, FIRST_SLOT, FIRST_TIME, MEME, USDC } from "./random-chain.ts";

export const SOL = WRAPPED_SOL;
export const SCAM = deriveAddress("SCAM");
/** USD that honest pools agree on. */
export const SOL_USD = 125;
export const MEME_USD = 0.05;

const DECIMALS = new Map([
  [SOL, 9],
  [SCAM, 9],
]);
const STEP_S = 60;

/** A pool of two tokens with a constant product, without a fee: what an attacker pays is less than in reality. */
export interface TestPair {
  readonly pool: string;
  readonly tokens: readonly [string, string];
  reserves: [number, number];
}

type Moved = Pick<Trade, "tokenIn" | "tokenOut"> & { readonly amounts: readonly [number, number] };

/** A market of honest pools, and whatever an attacker does in it. Amounts in whole tokens. */
export class AttackMarket {
  readonly blocks: TimedBlock[] = [];
  /** USD that honest pools agree on. */
  readonly solUsd: number;
  readonly #honest: readonly TestPair[];
  readonly #recorded: readonly DecodedTransaction[];
  #events: (Trade | LiquidityChange)[] = [];
  #slot = FIRST_SLOT - 1;
  #time = FIRST_TIME;
  #steps = 0;
  #taken = -1;

  /**
   * @param hours honest trades before the attack, of every pool each minute
   * @param recorded in place of those, transactions of a real chain at their own price of SOL, again and again
   */
  constructor(
    hours: number,
    recorded?: { readonly transactions: readonly DecodedTransaction[]; readonly solUsd: number },
  ) {
    this.solUsd = recorded?.solUsd ?? SOL_USD;
    this.#recorded = recorded?.transactions ?? [];
    this.#honest = recorded
      ? []
      : [
          pair("sol-usdc", [SOL, USDC], [20_000, 2_500_000]),
          pair("sol-usdc 2", [SOL, USDC], [4_000, 500_000]),
          pair("sol-usdc 3", [SOL, USDC], [8_000, 1_000_000]),
          pair("meme-sol", [MEME, SOL], [4_000_000, 1_600]),
          pair("meme-usdc", [MEME, USDC], [1_600_000, 80_000]),
        ];
    this.rest(hours * 3_600);
  }

  get now(): number {
    return this.#time;
  }

  honest(pool: string): TestPair {
    return this.#honest.find((each) => each.pool === deriveAddress(pool)) as TestPair;
  }

  /** A trade along the pool's constant product; returns what came out. */
  swap(at: TestPair, tokenIn: string, amountIn: number): number {
    const side = tokenIn === at.tokens[0] ? 0 : 1;
    const [into, out] = [at.reserves[side], at.reserves[1 - side] as number];
    const amountOut = out - (into * out) / (into + amountIn);
    at.reserves[side] += amountIn;
    at.reserves[1 - side] = out - amountOut;
    this.trade(at, { tokenIn, tokenOut: at.tokens[1 - side] as string, amounts: [amountIn, amountOut] });
    return amountOut;
  }

  /** A trade of any amounts, as concentrated liquidity allows, after which the pool holds what it holds now. */
  trade(at: TestPair, { tokenIn, tokenOut, amounts }: Moved): void {
    const side = tokenIn === at.tokens[0] ? 0 : 1;
    const [decimalsIn, decimalsOut] = [decimalsOf(tokenIn), decimalsOf(tokenOut)];
    this.#events.push({
      ...{ kind: "trade", leg: 0, dex: "orca", program: "orca-whirlpool", account: "trader", pool: at.pool },
      ...{ instructionIndex: this.#events.length, tokenIn, tokenOut, decimalsIn, decimalsOut },
      amountIn: toRaw(amounts[0], decimalsIn),
      amountOut: toRaw(amounts[1], decimalsOut),
      reserveIn: toRaw(at.reserves[side], decimalsIn),
      reserveOut: toRaw(at.reserves[1 - side] as number, decimalsOut),
    });
  }

  /** Takes this share of both sides out of a pool. */
  drain(at: TestPair, share: number): void {
    const [amountA, amountB] = [at.reserves[0] * share, at.reserves[1] * share];
    const [tokenA, tokenB] = at.tokens;
    const [decimalsA, decimalsB] = [decimalsOf(tokenA), decimalsOf(tokenB)];
    at.reserves = [at.reserves[0] - amountA, at.reserves[1] - amountB];
    this.#events.push({
      ...{ kind: "remove_liquidity", leg: 0, dex: "orca", program: "orca-whirlpool", account: "trader" },
      ...{ pool: at.pool, instructionIndex: this.#events.length, tokenA, tokenB, decimalsA, decimalsB },
      ...{ amountA: toRaw(amountA, decimalsA), amountB: toRaw(amountB, decimalsB) },
    });
  }

  /** Ends the block; the next one is `seconds` later. */
  block(seconds: number): void {
    const parentSlot = this.#slot;
    this.#slot += 1;
    const signature = deriveAddress(`tx ${this.#slot}`);
    const events = this.#events;
    const transaction: DecodedTransaction = {
      ...{ transactionIndex: 0, signature, feePayer: "trader", events, disagreements: [] },
      balances: [
        {
          ...{ tokenAccount: "account", mint: SOL, owner: "holder", decimals: 9, isToken2022: false },
          ...{ before: 0n, after: BigInt(this.#slot) * 10n ** 9n },
        },
      ],
    };
    const blockhash = deriveAddress(`block ${this.#slot}`);
    this.blocks.push({
      ...{ slot: this.#slot, parentSlot, blockhash, time: this.#time },
      transactions: [...this.#takeRecorded(), transaction],
    });
    this.#events = [];
    this.#time += seconds;
  }

  /** The next of the recorded ones: in blocks of a minute each of them comes twice an hour. */
  #takeRecorded(): DecodedTransaction[] {
    const all = this.#recorded;
    return Array.from({ length: Math.ceil(all.length / 30) }, (_, transactionIndex) => {
      this.#taken = (this.#taken + 1) % all.length;
      return { ...(all[this.#taken] as DecodedTransaction), transactionIndex };
    });
  }

  /** Honest trades in every pool each minute: one token for the other, and back in the next. */
  rest(seconds: number): void {
    for (let passed = 0; passed < seconds; passed += STEP_S) {
      this.#steps += 1;
      for (const at of this.#honest) {
        const side = this.#steps % 2;
        this.swap(at, at.tokens[side] as string, at.reserves[side as 0 | 1] / 2_000);
      }
      this.block(STEP_S);
    }
  }
}

export function pair(name: string, tokens: [string, string], reserves: [number, number]): TestPair {
  return { pool: deriveAddress(name), tokens, reserves };
}

/** What an index says while it follows blocks. */
export interface Outcome {
  /** Largest relative error of SOL and of MEME from a block on, and at the end. */
  readonly worst: number;
  readonly last: number;
  readonly rows: readonly PoolTransactionRow[];
  /** Largest relative error of a price of either in a candle. */
  readonly worstCandle: number;
}

/** @param from slot of the first block that counts */
export function follow(blocks: readonly TimedBlock[], from: number): Outcome {
  const book = new PriceTracker();
  const rows: PoolTransactionRow[] = [];
  let [worst, last, worstCandle] = [0, 0, 0];
  for (const { slot, time, transactions } of blocks) {
    const made = buildBlockRows(transactions, { slot, time, book });
    if (slot < from) continue;
    rows.push(...made.poolRows);
    for (const { mint, priceUsd } of made.candleTrades) {
      const truth = mint === SOL ? SOL_USD : mint === MEME ? MEME_USD : undefined;
      if (truth !== undefined) worstCandle = Math.max(worstCandle, errorOf(priceUsd, truth));
    }
    last = Math.max(errorOf(book.usd(SOL, time), SOL_USD), errorOf(book.usd(MEME, time), MEME_USD));
    worst = Math.max(worst, last);
  }
  return { worst, last, rows, worstCandle };
}

/** Relative, infinite where there is no price. */
function errorOf(usd: number | null, truth: number): number {
  return usd === null ? Number.POSITIVE_INFINITY : Math.abs(usd / truth - 1);
}

function decimalsOf(mint: string): number {
  return DECIMALS.get(mint) ?? 6;
}

function toRaw(amount: number, decimals: number): bigint {
  return BigInt(Math.round(amount * 10 ** decimals));
}
