export interface SwapAmounts {
  /** Whole tokens, into the pool positive. */
  readonly amount0: number;
  readonly amount1: number;
  readonly price0Usd: number | null;
  readonly price1Usd: number | null;
}

/** (|a0|p0 + |a1|p1) / 2 with both priced, else the priced side, else null. */
export function swapValueUsd(swap: SwapAmounts): number | null {
  const value0 = swap.price0Usd === null ? null : Math.abs(swap.amount0) * swap.price0Usd;
  const value1 = swap.price1Usd === null ? null : Math.abs(swap.amount1) * swap.price1Usd;
  if (value0 !== null && value1 !== null) return finite((value0 + value1) / 2);
  return finite(value0 ?? value1);
}

/** The token that came in. */
export function sideIn(swap: Pick<SwapAmounts, "amount0">): 0 | 1 {
  return swap.amount0 > 0 ? 0 : 1;
}

/**
 * Fees in USD that liquidity providers earned by a swap: amountIn × fee / 1e6 less the protocol's share (0 to 1), in
 * USD at the price of the token that came in; by the swap's value where only the other token is priced. Source:
 * UniswapV3Pool.swap.
 */
export function swapFeeUsd(
  swap: SwapAmounts,
  { fee, protocolShare }: { fee: number; protocolShare: number },
): number | null {
  const side = sideIn(swap);
  const priceIn = side === 0 ? swap.price0Usd : swap.price1Usd;
  const amountIn = side === 0 ? swap.amount0 : swap.amount1;
  const valueIn = priceIn === null ? swapValueUsd(swap) : amountIn * priceIn;
  if (valueIn === null) return null;
  return finite(((valueIn * fee) / 1e6) * (1 - protocolShare));
}

/** Absurd token amounts times absurd prices overflow: such a value is unknown. */
function finite(value: number | null): number | null {
  return value !== null && Number.isFinite(value) ? value : null;
}
