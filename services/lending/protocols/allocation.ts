/** Σ rate × assets / `total`; 0 where the total is 0, null where the rate of an allocation with assets is unknown. */
export function weightedRate(
  allocations: readonly { readonly assets: bigint; readonly rate: number | null }[],
  total: bigint,
): number | null {
  let weightedSum = 0;
  for (const { assets, rate } of allocations) {
    if (assets === 0n) continue;
    if (rate === null) return null;
    weightedSum += rate * Number(assets);
  }
  return total === 0n ? 0 : weightedSum / Number(total);
}

export function sum<T>(items: readonly T[], amountOf: (item: T) => bigint): bigint {
  return items.reduce((total, item) => total + amountOf(item), 0n);
}
