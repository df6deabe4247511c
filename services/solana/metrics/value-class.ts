/** Classes for every factor of ten: each spans 15 %. */
const CLASSES_PER_DECADE = 16;
const LOWEST_EXPONENT = -6;
const HIGHEST_EXPONENT = 12;

/** The class of rows without a USD value; they satisfy no minimum. */
export const NO_VALUE = 0;
/** The class of values below BOUNDS[0], zero among them. */
const BELOW = 1;

/**
 * Where classes begin, ascending: 10^(k/16) from 10^-6 to 10^12 USD. Cut to twelve digits, which every runtime agrees
 * on, as counts by class are stored.
 */
const BOUNDS: readonly number[] = Array.from(
  { length: (HIGHEST_EXPONENT - LOWEST_EXPONENT) * CLASSES_PER_DECADE + 1 },
  (_, i) => Number((10 ** (LOWEST_EXPONENT + i / CLASSES_PER_DECADE)).toPrecision(12)),
);

/** Classes are numbered 0 (no value), 1 (below 10^-6 USD), 2 … this less 1, which has no upper end. */
export const VALUE_CLASSES = BOUNDS.length + 2;

/** The class that a USD value counts in. Never falls as the value rises. */
export function classifyValue(valueUsd: number | null): number {
  if (valueUsd === null) return NO_VALUE;
  // The first bound above the value.
  let low = 0;
  let high = BOUNDS.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((BOUNDS[middle] as number) <= valueUsd) low = middle + 1;
    else high = middle;
  }
  return BELOW + low;
}

/** The least value of a class other than NO_VALUE, in USD: no value is below 0. */
export function lowerBoundOfClass(number: number): number {
  return number <= BELOW ? 0 : (BOUNDS[number - BELOW - 1] as number);
}
