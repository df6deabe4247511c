/**
 * USD amounts of rows are multiples of 2^-20 (about a millionth of a dollar). Sums of such numbers are exact in a
 * float up to 2^33 USD a sum, whatever the order: an hour built from its minutes equals an hour built swap by swap,
 * and a store replayed in other batches equals the first one bit for bit.
 */
const STEP = 2 ** 20;

export function quantizeUsd(usd: number): number {
  return Math.round(usd * STEP) / STEP;
}
