import { toWholeTokens } from "./pool-price.ts";

/** A v2 pool's reserves and curve. */
export interface SolidlyReserves {
  /** x³y + xy³ = k, else xy = k. */
  readonly stable: boolean;
  /** Raw units. */
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  readonly decimals0: number;
  readonly decimals1: number;
}

/**
 * Marginal price of token0 in token1, whole tokens, without the fee: −dy/dx of the curve at its reserves. With
 * r = y / x in whole tokens it is r on xy = k, and r (3 + r²) / (1 + 3r²) on x³y + xy³ = k, which is
 * y (3x² + y²) / (x (x² + 3y²)). Undefined while a side is empty.
 */
export function solidlyPrice(pool: SolidlyReserves): number | undefined {
  if (pool.reserve0 <= 0n || pool.reserve1 <= 0n) return undefined;
  const ratio = toWholeTokens(pool.reserve1, pool.decimals1) / toWholeTokens(pool.reserve0, pool.decimals0);
  return pool.stable ? (ratio * (3 + ratio * ratio)) / (1 + 3 * ratio * ratio) : ratio;
}
