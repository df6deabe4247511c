/** Fixed-point arithmetic as Aave's WadRayMath and PercentageMath do it, to the last digit. A ray has 27 decimals. */
export const RAY = 10n ** 27n;
/** Percentages have two decimals. */
const WHOLE = 10_000n;

export type Rounding = "half-up" | "floor" | "ceil";

/** a × b / RAY, of a and b from 0. */
export function rayMul(a: bigint, b: bigint, rounding: Rounding = "half-up"): bigint {
  return divide(a * b, RAY, rounding);
}

/** a × RAY / b, of a from 0 and b above. */
export function rayDiv(a: bigint, b: bigint, rounding: Rounding = "half-up"): bigint {
  return divide(a * RAY, b, rounding);
}

/** A percentage of a value, rounded half up. */
export function percentMul(value: bigint, percentage: bigint): bigint {
  return divide(value * percentage, WHOLE, "half-up");
}

function divide(dividend: bigint, divisor: bigint, rounding: Rounding): bigint {
  if (rounding === "floor") return dividend / divisor;
  // An odd divisor's half is rounded down, as there.
  return (dividend + (rounding === "ceil" ? divisor - 1n : divisor / 2n)) / divisor;
}
