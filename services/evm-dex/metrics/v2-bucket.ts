import { namedIntegers } from "../protocols/integers.ts";

/** Swaps and fees of one v2 pool in one span of time: mergeable, so that any window is a sum of few buckets. */
export interface V2Bucket extends V2Numbers, V2Amounts {}

export interface V2Numbers {
  swapCount: number;
  /** Swaps and fees that had no USD value. */
  unpricedCount: number;
  zeroForOneUsd: number;
  oneForZeroUsd: number;
  feesUsd: number;
}

interface V2Amounts {
  /** Raw units: what swaps moved in or out, and the fees taken of it. */
  volume0: bigint;
  volume1: bigint;
  fees0: bigint;
  fees1: bigint;
  /** By how much the pool's index0 and index1 rose. */
  growth0: bigint;
  growth1: bigint;
}

/** One Swap event. */
export interface V2Swap {
  /** Into the pool positive, raw units: amountIn − amountOut of a side. */
  readonly amount0: bigint;
  readonly amount1: bigint;
  /** A multiple of 2^-20, or null where one of the tokens has no price. */
  readonly valueUsd: number | null;
}

/** One Fees event. */
export interface V2Fees {
  readonly amount0: bigint;
  readonly amount1: bigint;
  readonly feeUsd: number | null;
  /** LP tokens that share them: the supply at the event. */
  readonly totalSupply: bigint;
}

export function emptyV2Numbers(): V2Numbers {
  return { swapCount: 0, unpricedCount: 0, zeroForOneUsd: 0, oneForZeroUsd: 0, feesUsd: 0 };
}

/** A whole literal: each swap makes one, and of each hour and day one is kept (docs/decisions/0084). */
export function emptyV2Bucket(): V2Bucket {
  return {
    swapCount: 0,
    unpricedCount: 0,
    zeroForOneUsd: 0,
    oneForZeroUsd: 0,
    feesUsd: 0,
    volume0: 0n,
    volume1: 0n,
    fees0: 0n,
    fees1: 0n,
    growth0: 0n,
    growth1: 0n,
  };
}

/** Whether a swap counts as token0 in, token1 out. */
export function isZeroForOne(swap: Pick<V2Swap, "amount0">): boolean {
  return swap.amount0 > 0n;
}

export function addV2Swap(bucket: V2Bucket, swap: V2Swap): void {
  bucket.swapCount += 1;
  if (swap.valueUsd === null) bucket.unpricedCount += 1;
  else if (isZeroForOne(swap)) bucket.zeroForOneUsd += swap.valueUsd;
  else bucket.oneForZeroUsd += swap.valueUsd;
  bucket.volume0 += magnitude(swap.amount0);
  bucket.volume1 += magnitude(swap.amount1);
}

export function addV2Fees(bucket: V2Bucket, fees: V2Fees): void {
  if (fees.feeUsd === null) bucket.unpricedCount += 1;
  else bucket.feesUsd += fees.feeUsd;
  bucket.fees0 += fees.amount0;
  bucket.fees1 += fees.amount1;
  bucket.growth0 += feeGrowth(fees.amount0, fees.totalSupply);
  bucket.growth1 += feeGrowth(fees.amount1, fees.totalSupply);
}

/** Adds another bucket to one; their order does not matter. */
export function mergeV2Into(bucket: V2Bucket, other: Readonly<V2Bucket>): void {
  mergeV2Numbers(bucket, other);
  bucket.volume0 += other.volume0;
  bucket.volume1 += other.volume1;
  bucket.fees0 += other.fees0;
  bucket.fees1 += other.fees1;
  bucket.growth0 += other.growth0;
  bucket.growth1 += other.growth1;
}

/** Adds all of a bucket but raw amounts. */
export function mergeV2Numbers(numbers: V2Numbers, other: Readonly<V2Numbers>): void {
  numbers.swapCount += other.swapCount;
  numbers.unpricedCount += other.unpricedCount;
  numbers.zeroForOneUsd += other.zeroForOneUsd;
  numbers.oneForZeroUsd += other.oneForZeroUsd;
  numbers.feesUsd += other.feesUsd;
}

/** Null where a swap had no USD value. */
export function volumeUsdOf(numbers: Readonly<V2Numbers>): number | null {
  return numbers.unpricedCount > 0 ? null : numbers.zeroForOneUsd + numbers.oneForZeroUsd;
}

/** Null where a fee had no USD value. */
export function feesUsdOf(numbers: Readonly<V2Numbers>): number | null {
  return numbers.unpricedCount > 0 ? null : numbers.feesUsd;
}

/** Scale of a pool's index0 and index1. */
export const INDEX_SCALE = 10n ** 18n;

/**
 * By how much a fee raises the pool's index: fee × 1e18 / totalSupply, rounded down, so that the sum over all Fees
 * events is index0() or index1() of the contract. Source: Aerodrome Pool._update0.
 */
export function feeGrowth(fee: bigint, totalSupply: bigint): bigint {
  return totalSupply === 0n ? 0n : (fee * INDEX_SCALE) / totalSupply;
}

function magnitude(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

/** The integers of a bucket as one text. */
export const v2AmountsText = namedIntegers(["volume0", "volume1", "fees0", "fees1", "growth0", "growth1"]);
