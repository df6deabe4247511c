/** USD stablecoins: 1 USD each. USDC and USDT. Two cannot tell which of them has lost its peg. */
export const ANCHORS: readonly string[] = [
  "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB",
];

/** With less than this on its thinner side, or on that of a pool before it, in USD, a pool prices nothing. */
export const MIN_DEPTH_USD = 10_000;
/** Pools between an anchor and a token at most. */
export const MAX_HOPS = 4;
/** With less of either side the ratio of raw units is rounding: such a trade sets no price. */
export const MIN_RAW_AMOUNT = 1_000n;
/** No whole token is worth a trillion dollars; what a pool says beyond that is a mistake or a trick. */
export const MAX_PRICE_USD = 1e12;
/** More than all money there is: no value. */
export const MAX_VALUE_USD = 1e15;

/** USD of an amount at a price; null where either says nothing. */
export function computeValueUsd(amount: number, usd: number | null): number | null {
  if (usd === null) return null;
  const value = amount * usd;
  return value <= MAX_VALUE_USD ? value : null;
}

/** USD for one token from a trade's value; null where that is no price. */
export function computePriceUsd(valueUsd: number | null, amount: number): number | null {
  if (valueUsd === null || amount <= 0) return null;
  const usd = valueUsd / amount;
  return usd <= MAX_PRICE_USD ? usd : null;
}
