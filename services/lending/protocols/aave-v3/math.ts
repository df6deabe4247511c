import type { Compounding } from "./interest.ts";
import type { Rounding } from "./ray.ts";

/** How a Pool does its sums. */
export interface PoolMath {
  readonly compounding: Compounding;
  /** Of what suppliers own, and of what goes to the treasury. */
  readonly supplyRounding: Rounding;
  readonly debtRounding: Rounding;
  /** The Pool counts its tokens itself, so that gifts to an aToken change nothing: for each reserve, or for those that say so. */
  readonly virtualAccounting: "all" | "flagged";
}

/**
 * By POOL_REVISION: 1 to 3 are Aave v3.0, 4 v3.1, 5 v3.2, 6 and 7 v3.3, 8 v3.4, 9 v3.5, 10 v3.6, 11 v3.7. With v3.4
 * compound interest came to be computed otherwise and all reserves counted virtually, with v3.5 balances were rounded
 * in favour of the protocol. Source: the notes of each version in github.com/aave-dao/aave-v3-origin.
 */
export function poolMath(revision: number): PoolMath {
  const isSince35 = revision >= 9;
  const isSince34 = revision >= 8;
  return {
    compounding: isSince34 ? "exponential" : "binomial",
    supplyRounding: isSince35 ? "floor" : "half-up",
    debtRounding: isSince35 ? "ceil" : "half-up",
    virtualAccounting: isSince34 ? "all" : "flagged",
  };
}
