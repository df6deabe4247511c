/** Share of a supply, both in raw units; null while the supply is unknown or 0. */
export function computeShare(balance: bigint, supply: bigint | null): number | null {
  return supply === null || supply === 0n ? null : Number(balance) / Number(supply);
}

/**
 * Ranks of a distribution's figures among `count` > 0 balances, the smallest at 0. The median of an even number is the
 * mean of two. The tenths are by nearest rank: the least balance that a tenth of the holders do not exceed, and the
 * greatest that a tenth reach or exceed.
 */
export function computeRanks(count: number): { median: readonly number[]; bottom10: number; top10: number } {
  const middle = (count - 1) / 2;
  const tenth = Math.ceil(count / 10);
  return {
    median: [...new Set([Math.floor(middle), Math.ceil(middle)])],
    bottom10: tenth - 1,
    top10: count - tenth,
  };
}
