export function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** a − b, or 0 where b is more. */
export function less(a: bigint, b: bigint): bigint {
  return a > b ? a - b : 0n;
}

export function sum<T>(items: readonly T[], of: (item: T) => bigint): bigint {
  return items.reduce((total, item) => total + of(item), 0n);
}
