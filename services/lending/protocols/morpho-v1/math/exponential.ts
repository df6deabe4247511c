import { WAD } from "./fixed.ts";

const LN_2 = 693_147_180_559_945_309n;
/** ln(1e-18): below it the result rounds to 0. */
const LOWEST = -41_446_531_673_892_822_312n;
/** From here on the result is constant, so that no product with it overflows 256 bits. */
const HIGHEST = 93_859_467_695_000_404_319n;
const AT_HIGHEST = 57_716_089_161_558_943_949_701_069_502_944_508_345_128_422_502_756_744_429_568n;

/**
 * e^x for a WAD, digit for digit as ExpLib of Morpho's AdaptiveCurveIrm: x = q ln 2 + r with the nearest integer q, then
 * 2^q × (1 + r + r² / 2).
 */
export function wExp(x: bigint): bigint {
  if (x < LOWEST) return 0n;
  if (x >= HIGHEST) return AT_HIGHEST;
  const half = x < 0n ? -(LN_2 / 2n) : LN_2 / 2n;
  const q = (x + half) / LN_2;
  const r = x - q * LN_2;
  const expR = WAD + r + (r * r) / WAD / 2n;
  return q >= 0n ? expR << q : expR >> -q;
}
