const EXACT = 2n ** 53n;
const EXACT_BELOW_ZERO = -EXACT;
/** Powers of ten that are exact as floats. */
const POWERS = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/** A raw amount in whole tokens: the nearest float. */
export function toWhole(raw: bigint, decimals: number): number {
  const power = POWERS[decimals];
  // Where both sides are exact, a division gives the nearest float; the way over a text costs five times as much.
  if (power !== undefined && raw <= EXACT && raw >= EXACT_BELOW_ZERO) return Number(raw) / power;
  return Number(`${raw}e-${decimals}`);
}
