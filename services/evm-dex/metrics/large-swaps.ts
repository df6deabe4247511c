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
  let place = largest.length;
  while (place > 0 && bySize(largest[place - 1] as LargeSwap, swap) > 0) place -= 1;
  if (place === LARGEST_COUNT) return largest;
  return [...largest.slice(0, place), swap, ...largest.slice(place, LARGEST_COUNT - 1)];
}

function bySize(a: LargeSwap, b: LargeSwap): number {
  if (a.valueUsd === b.valueUsd) return a.blockNumber - b.blockNumber || a.logIndex - b.logIndex;
  if (a.valueUsd === null) return 1;
  if (b.valueUsd === null) return -1;
  return b.valueUsd - a.valueUsd;
}
