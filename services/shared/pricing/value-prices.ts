/** Values may contradict a pool's own price, or the other side, by this factor. */
export const VALUE_BOUND = 1.1;

/** Whether two prices of a token agree: then one supports the other. */
export function agree(usd: number, other: number): boolean {
  return other <= usd * VALUE_BOUND && other >= usd / VALUE_BOUND;
}

/** One side of a pool or of a swap. */
export interface ValuedSide {
  /** Whole tokens, not negative. */
  readonly amount: number;
  /** Null: unknown. */
  readonly usd: number | null;
  /** USD depth that supports the price outside of this pool; Infinity for an anchor. */
  readonly supportUsd: number;
}

export interface ValuePrices {
  readonly usd0: number | null;
  readonly usd1: number | null;
}

/**
 * USD prices to value both sides of a pool, or of a swap, with: the used ones, but for two bounds, each with 10 % of
 * tolerance.
 * 1. The pool's own price: the token with less support is worth no more than what the pool gives for it at the price
 *    of the other.
 * 2. Support: a side is worth no more than the depth that supports its price outside of this pool, or, where that is
 *    less, than the supported part of the other side. What only a pool itself says of a token counts no further than
 *    what lies against it.
 * So neither a token that one thin pool prices at a billion dollars nor one that lies about its balance makes a value
 * beyond the money behind it.
 * @param price the pool's own price, token1 per token0; undefined where it says nothing
 */
export function valuePrices(side0: ValuedSide, side1: ValuedSide, price: number | undefined): ValuePrices {
  let { usd: usd0 } = side0;
  let { usd: usd1 } = side1;
  if (usd0 !== null && usd1 !== null && price !== undefined && price > 0 && Number.isFinite(price)) {
    if (side0.supportUsd < side1.supportUsd) usd0 = Math.min(usd0, VALUE_BOUND * usd1 * price);
    else if (side1.supportUsd < side0.supportUsd) usd1 = Math.min(usd1, (VALUE_BOUND * usd0) / price);
  }
  return {
    usd0: supported(usd0, { side: side0, other: side1, usdOther: usd1 }),
    usd1: supported(usd1, { side: side1, other: side0, usdOther: usd0 }),
  };
}

function supported(
  usd: number | null,
  { side, other, usdOther }: { side: ValuedSide; other: ValuedSide; usdOther: number | null },
): number | null {
  if (usd === null) return null;
  const value = side.amount * usd;
  if (value <= side.supportUsd) return usd;
  const against = usdOther === null ? 0 : Math.min(other.amount * usdOther, other.supportUsd);
  const bound = Math.max(side.supportUsd, VALUE_BOUND * against);
  return value <= bound ? usd : bound / side.amount;
}
