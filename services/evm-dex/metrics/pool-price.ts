const Q96 = 2 ** 96;

/**
 * Price of token0 in token1, whole tokens: (sqrtPriceX96 / 2^96)² × 10^(decimals0 − decimals1).
 * Source: Uniswap v3 whitepaper, section 6.1. The quotient is squared as a float: relative error below 1e-15.
 */
export function poolPrice(sqrtPriceX96: bigint, decimals: { decimals0: number; decimals1: number }): number {
  const root = Number(sqrtPriceX96) / Q96;
  return root * root * 10 ** (decimals.decimals0 - decimals.decimals1);
}

/** Raw units to whole tokens. A float: exact to 2^53, relative error below 1e-15 beyond. */
export function toWholeTokens(raw: bigint, decimals: number): number {
  return Number(raw) / 10 ** decimals;
}

/**
 * The reserves a constant-product pool would need to trade like this one around its price, raw units:
 * x = L / √P, y = L × √P (Uniswap v3 whitepaper, section 6.2). They measure how much moves the price.
 */
export function virtualReserves(
  sqrtPriceX96: bigint,
  liquidity: bigint,
): { reserve0: number; reserve1: number } {
  if (sqrtPriceX96 === 0n) return { reserve0: 0, reserve1: 0 };
  const root = Number(sqrtPriceX96) / Q96;
  return { reserve0: Number(liquidity) / root, reserve1: Number(liquidity) * root };
}
