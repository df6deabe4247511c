/** 1 with 18 decimals. */
export const WAD = 10n ** 18n;

/** x × y / d, rounded down; all are non-negative. */
export function mulDivDown(x: bigint, y: bigint, d: bigint): bigint {
  return (x * y) / d;
}

export function mulDivUp(x: bigint, y: bigint, d: bigint): bigint {
  return (x * y + (d - 1n)) / d;
}

/** Rounds towards zero, as Solidity does for signed numbers. */
export function wMul(x: bigint, y: bigint): bigint {
  return (x * y) / WAD;
}

/** Rounds towards zero. */
export function wDiv(x: bigint, y: bigint): bigint {
  return (x * WAD) / y;
}

/**
 * Interest on 1 (WAD) at `rate` (WAD per second) over `seconds`: the first three terms of e^(rate × seconds) − 1, each
 * rounded down, as Morpho's MathLib.wTaylorCompounded.
 */
export function compound(rate: bigint, seconds: bigint): bigint {
  const first = rate * seconds;
  const second = mulDivDown(first, first, 2n * WAD);
  const third = mulDivDown(second, first, 3n * WAD);
  return first + second + third;
}
