/** Sums of swaps over about the last hour: a block counts e times less for each 9,000 blocks after it. */
export interface SwapSums {
  /** Trades of the indexed programs. */
  readonly trades: number;
  /** Swaps of other programs, by balances; null where only the indexed programs' transactions are read. */
  readonly otherSwaps: number | null;
}

export const NO_SWAPS: SwapSums = { trades: 0, otherSwaps: 0 };

const KEPT = Math.exp(-1 / 9_000);

/** The sums after a block; `before` are those of the block before it, so that a rollback brings them back. */
export function addSwaps(before: SwapSums, block: SwapSums): SwapSums {
  const { trades, otherSwaps } = block;
  return {
    trades: before.trades * KEPT + trades,
    otherSwaps: otherSwaps === null ? null : (before.otherSwaps ?? 0) * KEPT + otherSwaps,
  };
}

/** Share of the cluster's swaps that are trades of the index, 0 to 1; undefined while none were counted. */
export function computeSwapShare({ trades, otherSwaps }: SwapSums): number | undefined {
  if (otherSwaps === null || trades + otherSwaps === 0) return undefined;
  return Math.round((1_000 * trades) / (trades + otherSwaps)) / 1_000;
}
