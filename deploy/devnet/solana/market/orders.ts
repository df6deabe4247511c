import type { Random } from "../../random.ts";
import type { Ledger } from "../chain/ledger.ts";
import { findTokenAccount, WRAPPED_SOL } from "../chain/token-program.ts";
import type { SwapOrder } from "../exchanges/pool.ts";
import { CURVE, pumpFun, readReserves } from "../exchanges/pump-fun.ts";
import type { MarketPool } from "./pools.ts";
import { TOKENS, type TokenSymbol, unitsOf, usdAt } from "./tokens.ts";

/** Of what it holds a wallet never puts more into one trade. */
const LARGEST_PART = 4n;

/** A trade of a pool that leads its price back to where it should be, more often than not. */
export function chooseOrder(
  ledger: Ledger,
  { pool, user, random, time }: { pool: MarketPool; user: string; random: Random; time: number },
): SwapOrder {
  const aToB = random.next() < likelihoodOfSelling(ledger, pool, time);
  const symbol = pool.symbols[aToB ? 0 : 1];
  const depth = pool.exchange === pumpFun ? 8_000 : pool.depthUsd;
  const usd = Math.min(depth * 0.0006 * Math.exp(0.9 * random.normal()), depth * 0.02);
  const wanted = unitsAtPool(ledger, { pool, symbol, usd, time });
  const most = spendable(ledger, user, TOKENS[symbol].mint) / LARGEST_PART;
  return { pool, user, aToB, amountIn: wanted < most ? wanted : most, form: formOf(pool, random) };
}

/** What a wallet could spend of a token: of SOL it is lamports where they are not wrapped. */
export function spendable(ledger: Ledger, user: string, mint: string): bigint {
  return ledger.amountOf(findTokenAccount(ledger, user, mint));
}

/** Tokens with a fee of their own refuse the plain Transfer of the older instructions. */
export function formOf({ mints }: Pick<MarketPool, "mints">, random: Random): number {
  const isPlain = mints.every((mint) => mint === WRAPPED_SOL || PLAIN.has(mint));
  return isPlain ? random.below(6) : 0;
}

const PLAIN: ReadonlySet<string> = new Set(
  Object.values(TOKENS)
    .filter(({ program }) => program === TOKENS.SOL.program)
    .map(({ mint }) => mint),
);

/** On a curve the market's price means nothing: tokens are counted at the curve's own. */
function unitsAtPool(
  ledger: Ledger,
  { pool, symbol, usd, time }: { pool: MarketPool; symbol: TokenSymbol; usd: number; time: number },
): bigint {
  if (pool.exchange !== pumpFun || symbol === pool.symbols[1]) return unitsOf(symbol, usd, time);
  const { virtualQuote, virtualTokens } = readReserves(ledger, pool);
  return (unitsOf(pool.symbols[1], usd, time) * virtualTokens) / virtualQuote;
}

function likelihoodOfSelling(ledger: Ledger, pool: MarketPool, time: number): number {
  if (pool.exchange === pumpFun) {
    // Between empty and complete, a curve's buyers tire.
    const sold = 1 - Number(readReserves(ledger, pool).realTokens) / Number(CURVE.realTokens);
    return 0.25 + 0.5 * sold;
  }
  const [a, b] = pool.symbols;
  const whole = (side: 0 | 1) =>
    Number(ledger.amountOf(pool.vaults[side])) / 10 ** TOKENS[pool.symbols[side]].decimals;
  const price = (whole(1) / whole(0)) * usdAt(b, time);
  const off = Math.log(price / (usdAt(a, time) * pool.skew));
  return Math.min(0.95, Math.max(0.05, 0.5 + 20 * off));
}
