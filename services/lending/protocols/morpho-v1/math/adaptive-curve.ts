import { wExp } from "./exponential.ts";
import { WAD, wDiv, wMul } from "./fixed.ts";

/**
 * Morpho's AdaptiveCurveIrm: the borrow rate follows a curve over the utilization through rateAtTarget, which itself
 * grows or shrinks exponentially while the utilization is above or below its target. Constants are the contract's
 * (ConstantsLib); rates are WAD per second.
 */
const YEAR = 365n * 86_400n;
const TARGET_UTILIZATION = (9n * WAD) / 10n;
/** The curve is 4 times rateAtTarget at a utilization of 1, a quarter of it at 0. */
const STEEPNESS = 4n * WAD;
/** Speed of the adaptation at the largest error: e^50 per year. */
const SPEED = (50n * WAD) / YEAR;
const INITIAL_RATE_AT_TARGET = (4n * WAD) / 100n / YEAR;
const MIN_RATE_AT_TARGET = WAD / 1_000n / YEAR;
const MAX_RATE_AT_TARGET = (2n * WAD) / YEAR;

export interface MarketAssets {
  readonly supplyAssets: bigint;
  readonly borrowAssets: bigint;
}

export interface AdaptedRate {
  /** The mean rate over the past seconds: what borrowers are charged. */
  readonly averageRate: bigint;
  readonly rateAtTarget: bigint;
}

/** The rates after `seconds` of unchanged assets. `rateAtTarget` 0: the model was never called for this market. */
export function adaptRate(rateAtTarget: bigint, assets: MarketAssets, seconds: bigint): AdaptedRate {
  const error = errorOf(assets);
  if (rateAtTarget === 0n)
    return { averageRate: curve(INITIAL_RATE_AT_TARGET, error), rateAtTarget: INITIAL_RATE_AT_TARGET };
  const exponent = wMul(SPEED, error) * seconds;
  if (exponent === 0n) return { averageRate: curve(rateAtTarget, error), rateAtTarget };
  const end = adapt(rateAtTarget, exponent);
  const middle = adapt(rateAtTarget, exponent / 2n);
  // The trapezoidal rule over two steps.
  const average = (rateAtTarget + end + 2n * middle) / 4n;
  return { averageRate: curve(average, error), rateAtTarget: end };
}

/** The current rate: what the contract returns just after an accrual. */
export function rateNow(rateAtTarget: bigint, assets: MarketAssets): bigint {
  return adaptRate(rateAtTarget, assets, 0n).averageRate;
}

/** How far the utilization is from its target, −1 (empty) to 1 (full). */
function errorOf({ supplyAssets, borrowAssets }: MarketAssets): bigint {
  const utilization = supplyAssets > 0n ? wDiv(borrowAssets, supplyAssets) : 0n;
  const widest = utilization > TARGET_UTILIZATION ? WAD - TARGET_UTILIZATION : TARGET_UTILIZATION;
  return wDiv(utilization - TARGET_UTILIZATION, widest);
}

function curve(rateAtTarget: bigint, error: bigint): bigint {
  const coefficient = error < 0n ? WAD - wDiv(WAD, STEEPNESS) : STEEPNESS - WAD;
  return wMul(wMul(coefficient, error) + WAD, rateAtTarget);
}

function adapt(rateAtTarget: bigint, exponent: bigint): bigint {
  const adapted = wMul(rateAtTarget, wExp(exponent));
  if (adapted < MIN_RATE_AT_TARGET) return MIN_RATE_AT_TARGET;
  return adapted > MAX_RATE_AT_TARGET ? MAX_RATE_AT_TARGET : adapted;
}
