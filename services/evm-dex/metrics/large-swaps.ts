/** One of a pool's largest swaps. */
export interface LargeSwap {
  readonly valueUsd: number | null;
  readonly blockNumber: number;
  readonly logIndex: number;
  /** Unix seconds. */
  readonly time: number;
  readonly txHash: string;
  readonly zeroForOne: boolean;
}

const LARGEST_COUNT = 10;

/** The ten largest: by value, unpriced ones last, the earlier first of two that are equal. */
export function largestOf(swaps: readonly LargeSwap[]): LargeSwap[] {
  return [...swaps].sort(bySize).slice(0, LARGEST_COUNT);
}

/** Inserts a swap; returns the same list where it is not among the largest. */
export function withSwap(largest: readonly LargeSwap[], swap: LargeSwap): readonly LargeSwap[] {
  const least = largest.at(-1);
  if (largest.length === LARGEST_COUNT && least !== undefined && bySize(least, swap) < 0) return largest;
  return largestOf([...largest, swap]);
}

function bySize(a: LargeSwap, b: LargeSwap): number {
  if (a.valueUsd === b.valueUsd) return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
  if (a.valueUsd === null) return 1;
  if (b.valueUsd === null) return -1;
  return b.valueUsd - a.valueUsd;
}
