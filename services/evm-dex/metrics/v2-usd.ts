import type { SwapAmounts } from "./usd.ts";

/**
 * (|a0|p0 + |a1|p1) / 2, null unless both tokens have a price: the v2 endpoints promise USD numbers only where every
 * price is known.
 */
export function v2SwapUsd(swap: SwapAmounts): number | null {
  const sum = pairUsd({ ...swap, amount0: Math.abs(swap.amount0), amount1: Math.abs(swap.amount1) });
  return sum === null ? null : sum / 2;
}

/**
 * amount0 × p0 + amount1 × p1: fees, reserves, positions. Null unless both tokens have a price, and where absurd
 * amounts times absurd prices overflow.
 */
export function pairUsd(pair: SwapAmounts): number | null {
  const { amount0, amount1, price0Usd, price1Usd } = pair;
  if (price0Usd === null || price1Usd === null) return null;
  const usd = amount0 * price0Usd + amount1 * price1Usd;
  return Number.isFinite(usd) ? usd : null;
}
