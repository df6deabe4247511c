import { fromFixed } from "../rows.ts";
import { RAY, rayMul } from "./ray.ts";

/** A year of 365 days. Source of all formulas here: Aave's MathUtils. */
const YEAR_S = 31_536_000;
const YEAR = BigInt(YEAR_S);

/** Aave's two approximations of (1 + rate / year)^seconds: see math.ts for which Pool uses which. */
export type Compounding = "binomial" | "exponential";

/** Growth factor of suppliers' claims over some seconds at a yearly rate, in rays: simple interest. */
export function linearInterest(rate: bigint, seconds: number): bigint {
  return RAY + (rate * BigInt(seconds)) / YEAR;
}

/** Growth factor of debts over some seconds at a yearly rate, in rays: the first terms of compound interest. */
export function compoundInterest(rate: bigint, seconds: number, compounding: Compounding): bigint {
  if (seconds === 0) return RAY;
  return compounding === "binomial" ? binomial(rate, BigInt(seconds)) : exponential(rate, BigInt(seconds));
}

/** 1 + n·x + n(n−1)/2·x² + n(n−1)(n−2)/6·x³ for n seconds; the powers are truncated before they are multiplied. */
function binomial(rate: bigint, n: bigint): bigint {
  const square = rayMul(rate, rate) / (YEAR * YEAR);
  const cube = rayMul(square, rate) / YEAR;
  const lessTwo = n > 2n ? n - 2n : 0n;
  const second = (n * (n - 1n) * square) / 2n;
  const third = (n * (n - 1n) * lessTwo * cube) / 6n;
  return RAY + (rate * n) / YEAR + second + third;
}

/** 1 + x + x²/2 + x³/6, where x is the rate over the whole time. */
function exponential(rate: bigint, n: bigint): bigint {
  const x = (rate * n) / YEAR;
  return RAY + x + rayMul(x, x / 2n + rayMul(x, x / 6n));
}

/** (1 + rate / 1e27 / 31,536,000)^31,536,000 − 1: a yearly rate in rays, compounded every second. */
export function annualYield(rate: bigint): number {
  // No power: 1 + the rate per second would lose most of the rate's digits.
  return Math.expm1(YEAR_S * Math.log1p(fromFixed(rate, 27) / YEAR_S));
}
