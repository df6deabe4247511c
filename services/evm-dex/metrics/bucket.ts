/** Swaps of one pool in one span of time: mergeable, so that any window is a sum of few buckets. */
export interface Bucket {
  swapCount: number;
  volumeUsd: number;
  feesUsd: number;
  /** Swaps with an unknown value, and with an unknown fee: the sums lack them. */
  unpricedCount: number;
  unpricedFeeCount: number;
  tickTravel: number;
  closePrice: number;
  lastSeenUsers: number;
}

export const MINUTE = 60;
export const HOUR = 3600;
export const DAY = 86_400;
export const SPANS = [MINUTE, HOUR, DAY] as const;
export type Span = (typeof SPANS)[number];

export interface BucketSwap {
  readonly valueUsd: number | null;
  readonly feeUsd: number | null;
  /** |tick after − tick before|. */
  readonly tickTravel: number;
  readonly closePrice: number;
}

export function startOf(time: number, span: number): number {
  return time - (time % span);
}

export function emptyBucket(): Bucket {
  return {
    swapCount: 0,
    volumeUsd: 0,
    feesUsd: 0,
    unpricedCount: 0,
    unpricedFeeCount: 0,
    tickTravel: 0,
    closePrice: 0,
    lastSeenUsers: 0,
  };
}

/** Adds one swap; users are counted separately, by their last swap. */
export function addSwap(bucket: Bucket, swap: BucketSwap): void {
  bucket.swapCount += 1;
  if (swap.valueUsd === null) bucket.unpricedCount += 1;
  else bucket.volumeUsd += swap.valueUsd;
  if (swap.feeUsd === null) bucket.unpricedFeeCount += 1;
  else bucket.feesUsd += swap.feeUsd;
  bucket.tickTravel += swap.tickTravel;
  bucket.closePrice = swap.closePrice;
}

/** Adds a later bucket to an earlier one. */
export function mergeInto(bucket: Bucket, later: Readonly<Bucket>): void {
  bucket.swapCount += later.swapCount;
  bucket.volumeUsd += later.volumeUsd;
  bucket.feesUsd += later.feesUsd;
  bucket.unpricedCount += later.unpricedCount;
  bucket.unpricedFeeCount += later.unpricedFeeCount;
  bucket.tickTravel += later.tickTravel;
  if (later.swapCount > 0) bucket.closePrice = later.closePrice;
  bucket.lastSeenUsers += later.lastSeenUsers;
}
