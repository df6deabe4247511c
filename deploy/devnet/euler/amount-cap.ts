const MANTISSA_SCALE = 100n;
const MAX_MANTISSA = (1n << 10n) - 1n;
const MAX_EXPONENT = 63n;

/**
 * A cap as Euler's AmountCap: 10 bits of mantissa in hundredths, 6 bits of exponent; undefined, no cap, is 0. An amount
 * with more digits than the mantissa has is rounded down. Throws RangeError above the largest cap.
 */
export function encodeAmountCap(amount: bigint | undefined): number {
  if (amount === undefined) return 0;
  let mantissa = amount * MANTISSA_SCALE;
  let exponent = 0n;
  while (mantissa > MAX_MANTISSA) {
    mantissa /= 10n;
    exponent++;
  }
  if (exponent > MAX_EXPONENT) throw new RangeError(`Cannot encode cap ${amount}: it is above 10.23e63`);
  // All zeros would mean that there is no cap.
  if (mantissa === 0n) exponent = 1n;
  return Number((mantissa << 6n) | exponent);
}
