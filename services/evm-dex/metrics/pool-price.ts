const Q96 = 2 ** 96;

/** Powers of ten from −255 on, more than decimals can differ by: the operator takes ten times as long. */
const MOST_DECIMALS = 255;
const POWERS_OF_TEN = Float64Array.from(
  { length: 2 * MOST_DECIMALS + 1 },
  (_, i) => 10 ** (i - MOST_DECIMALS),
);

/** 10 to the power of an integer, as the operator has it. */
export function powerOfTen(exponent: number): number {
  return POWERS_OF_TEN[exponent + MOST_DECIMALS] ?? 10 ** exponent;
}

/** Raw units: the integer, or the float nearest to it, with the same results. */
export type RawAmount = bigint | number;

/**
 * Price of token0 in token1, whole tokens: (sqrtPriceX96 / 2^96)² × 10^(decimals0 − decimals1).
 * Source: Uniswap v3 whitepaper, section 6.1. The quotient is squared as a float: relative error below 1e-15.
 */
export function poolPrice(
  sqrtPriceX96: RawAmount,
  decimals: { decimals0: number; decimals1: number },
): number {
  const root = Number(sqrtPriceX96) / Q96;
  return root * root * powerOfTen(decimals.decimals0 - decimals.decimals1);
}

/** Raw units to whole tokens. A float: exact to 2^53, relative error below 1e-15 beyond. */
export function toWholeTokens(raw: RawAmount, decimals: number): number {
  return Number(raw) / powerOfTen(decimals);
}

/**
 * The reserves a constant-product pool would need to trade like this one around its price, raw units:
 * x = L / √P, y = L × √P (Uniswap v3 whitepaper, section 6.2). They measure how much moves the price.
 */
export function virtualReserves(
  sqrtPriceX96: RawAmount,
  liquidity: RawAmount,
): { reserve0: number; reserve1: number } {
  const root = Number(sqrtPriceX96) / Q96;
  if (root === 0) return { reserve0: 0, reserve1: 0 };
  return { reserve0: Number(liquidity) / root, reserve1: Number(liquidity) * root };
}
