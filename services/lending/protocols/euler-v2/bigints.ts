export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** max(a − b, 0). */
export function subtractToZero(a: bigint, b: bigint): bigint {
  return a > b ? a - b : 0n;
}
