/** Fixed-point arithmetic as Aave's WadRayMath and PercentageMath do it, to the last digit. A ray has 27 decimals. */
export const RAY = 10n ** 27n;
/** 100 % with two decimals. */
const PERCENTAGE_FACTOR = 10_000n;

export type Rounding = "half-up" | "floor" | "ceil";

/** a × b / RAY, for a, b ≥ 0. */
export function rayMul(a: bigint, b: bigint, rounding: Rounding = "half-up"): bigint {
  return divide(a * b, RAY, rounding);
}

/** a × RAY / b, for a ≥ 0 and b > 0. */
export function rayDiv(a: bigint, b: bigint, rounding: Rounding = "half-up"): bigint {
  return divide(a * RAY, b, rounding);
}

/** A percentage of a value, rounded half up. */
export function percentMul(value: bigint, percentage: bigint): bigint {
  return divide(value * percentage, PERCENTAGE_FACTOR, "half-up");
}

function divide(dividend: bigint, divisor: bigint, rounding: Rounding): bigint {
  if (rounding === "floor") return dividend / divisor;
  // Half of an odd divisor is rounded down, as in the contracts.
  return (dividend + (rounding === "ceil" ? divisor - 1n : divisor / 2n)) / divisor;
}
