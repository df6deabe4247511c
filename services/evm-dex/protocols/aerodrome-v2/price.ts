import { type RawAmount, toWholeTokens } from "../../metrics/pool-price.ts";
import { readFloats } from "../integers.ts";
import type { PriceFacts, StatePoint, TokenPair } from "../protocol.ts";

interface Reserves {
  readonly reserve0: RawAmount;
  readonly reserve1: RawAmount;
}

/**
 * token1 per token0, whole tokens, for an amount next to nothing and without the fee; undefined for an empty pool.
 * Volatile (xy = k): y / x. Stable (x³y + xy³ = k): −dy/dx = y(3x² + y²) / (x(x² + 3y²)), with r = y / x
 * r(3 + r²) / (1 + 3r²).
 */
export function v2Price(reserves: Reserves, pool: PriceFacts): number | undefined {
  return curvePrice(wholeReserves(reserves, pool), pool.stable);
}

/** Reserves are a state's first two integers. */
const FLOATS = new Float64Array(2);

/** Price and depth from a state's text. */
export function readV2Point(text: string, pool: PriceFacts): StatePoint | undefined {
  readFloats(text, FLOATS);
  const reserves = { reserve0: FLOATS[0] as number, reserve1: FLOATS[1] as number };
  const price = v2Price(reserves, pool);
  if (price === undefined) return undefined;
  const { amount0, amount1 } = v2Depth(reserves, pool);
  return { price, depth0: amount0, depth1: amount1 };
}

/** The same from reserves in whole tokens. */
export function curvePrice(reserves: TokenPair, stable: boolean): number | undefined {
  const ratio = ratioOf(reserves);
  if (!isUsable(ratio)) return undefined;
  const price = stable ? stablePrice(ratio) : ratio;
  return isUsable(price) ? price : undefined;
}

/**
 * Liquidity behind the price on either side: the reserves, or on the stable curve, where it bends so much that less
 * moves the price, the reserves of the constant-product pool whose price moves as fast (for xy = k, dp/dx = −2p/x;
 * hence x = 2p / |dp/dx|). Near balance the curve is flat and the reserves are all there is; off balance a swap moves
 * the price further than they promise.
 */
export function v2Depth(reserves: Reserves, pool: PriceFacts): TokenPair {
  const held = wholeReserves(reserves, pool);
  const ratio = ratioOf(held);
  if (!pool.stable || !isUsable(ratio)) return held;
  const price = stablePrice(ratio);
  const virtual0 = held.amount0 * stableStiffness(ratio);
  return {
    amount0: Math.min(held.amount0, virtual0),
    amount1: Math.min(held.amount1, virtual0 * price),
  };
}

function stablePrice(ratio: number): number {
  const square = ratio * ratio;
  // Written so that it stays finite for any ratio.
  return square > 1
    ? (ratio * (3 / square + 1)) / (1 / square + 3)
    : (ratio * (3 + square)) / (1 + 3 * square);
}

/**
 * 2p / (x |dp/dx|). With p = g(r): dp/dx = −g'(r)(p + r) / x along the curve, and
 * g'(r) = 3(1 − r²)² / (1 + 3r²)².
 */
function stableStiffness(ratio: number): number {
  const price = stablePrice(ratio);
  const square = ratio * ratio;
  // (1 + 3r²) / (1 − r²), by r² where that is large.
  const bend = square > 1 ? (1 / square + 3) / (1 / square - 1) : (1 + 3 * square) / (1 - square);
  return (2 * price * bend * bend) / (3 * (price + ratio));
}

function wholeReserves(reserves: Reserves, pool: PriceFacts): TokenPair {
  return {
    amount0: toWholeTokens(reserves.reserve0, pool.token0Decimals),
    amount1: toWholeTokens(reserves.reserve1, pool.token1Decimals),
  };
}

function ratioOf({ amount0, amount1 }: TokenPair): number {
  return amount1 / amount0;
}

function isUsable(number: number): boolean {
  return number > 0 && Number.isFinite(number);
}
