/** Float arithmetic on ticks, good enough to place liquidity; nothing on chain depends on its last digits. */
const TICK_BASE = Math.log(1.0001);
const Q96 = 2 ** 96;

export interface PairPrice {
  /** Raw token1 per raw token0. */
  readonly raw: number;
  readonly tick: number;
  readonly sqrtPriceX96: bigint;
}

export interface PricedToken {
  readonly usd: number;
  readonly decimals: number;
}

/** Pool price of two tokens of given USD prices. */
export function pairPrice(token0: PricedToken, token1: PricedToken): PairPrice {
  const raw = (token0.usd / token1.usd) * 10 ** (token1.decimals - token0.decimals);
  return {
    raw,
    tick: Math.floor(Math.log(raw) / TICK_BASE),
    sqrtPriceX96: BigInt(Math.floor(Math.sqrt(raw) * Q96)),
  };
}

/** The nearest usable range of `halfWidth` ticks around `tick`. */
export function rangeAround(
  tick: number,
  halfWidth: number,
  spacing: number,
): { lower: number; upper: number } {
  const half = Math.max(spacing, Math.round(halfWidth / spacing) * spacing);
  const centre = Math.round(tick / spacing) * spacing;
  return { lower: centre - half, upper: centre + half };
}

/** Liquidity that needs at most these raw amounts in [lower, upper) at a raw price inside the range. */
export function liquidityFor(
  rawPrice: number,
  range: { lower: number; upper: number },
  amounts: [number, number],
): bigint {
  const sqrt = Math.sqrt(rawPrice);
  const sqrtLower = Math.exp((range.lower * TICK_BASE) / 2);
  const sqrtUpper = Math.exp((range.upper * TICK_BASE) / 2);
  const of0 = amounts[0] / (1 / sqrt - 1 / sqrtUpper);
  const of1 = amounts[1] / (sqrt - sqrtLower);
  return BigInt(Math.floor(Math.min(of0, of1)));
}
