import type { Compounding } from "./interest.ts";
import type { Rounding } from "./ray.ts";

/** How a Pool rounds and compounds. */
export interface PoolMath {
  readonly compounding: Compounding;
  /** Rounding of suppliers' balances and of the treasury's share. */
  readonly supplyRounding: Rounding;
  readonly debtRounding: Rounding;
  /** Whether the Pool counts its tokens itself, so that donations to an aToken change nothing: for all reserves, or for flagged ones. */
  readonly virtualAccounting: "all" | "flagged";
  /** Whether an efficiency mode decides alone what may be borrowed and pledged in it; before, it narrowed the reserve's own flags. */
  readonly eModesStandAlone: boolean;
  /** Whether the Pool asks the market's price oracle sentinel before it lends. */
  readonly asksSentinel: boolean;
}

/**
 * The math of a POOL_REVISION, so that rows equal the contracts' views to the last digit: 1 to 3 are Aave v3.0, 4 v3.1,
 * 5 v3.2, 6 and 7 v3.3, 8 v3.4, 9 v3.5, 10 v3.6, 11 v3.7. v3.4 changed the compound interest formula and counts all
 * reserves virtually; v3.5 rounds balances in favour of the protocol; v3.7 has no sentinel. Source: the notes of each version in
 * github.com/aave-dao/aave-v3-origin.
 */
export function poolMath(revision: number): PoolMath {
  const isSince35 = revision >= 9;
  const isSince34 = revision >= 8;
  return {
    compounding: isSince34 ? "exponential" : "binomial",
    supplyRounding: isSince35 ? "floor" : "half-up",
    debtRounding: isSince35 ? "ceil" : "half-up",
    virtualAccounting: isSince34 ? "all" : "flagged",
    eModesStandAlone: revision >= 10,
    asksSentinel: revision < 11,
  };
}
