import { type LargeSwap, largestOf } from "../metrics/large-swaps.ts";
import { addV2Fees, addV2Swap, emptyV2Bucket, isZeroForOne, type V2Bucket } from "../metrics/v2-bucket.ts";
import { readIntegers } from "../protocols/integers.ts";
import type { Protocol, RawPair, SwapFees } from "../protocols/protocol.ts";
import type { PoolEventRow } from "../store/collections.ts";

/** A swap's row, its amounts and its fees: all that the hours and days of a v2 pool count. */
export interface V2SwapRow
  extends Pick<
    PoolEventRow,
    "poolAddress" | "time" | "blockNumber" | "logIndex" | "txHash" | "valueUsd" | "feeUsd"
  > {
  /** Into the pool positive. */
  readonly moved: RawPair;
  readonly fees: SwapFees;
}

/** From a stored row; undefined where it is not a swap, or not of a v2 pool. */
export function toV2Swap(row: PoolEventRow, protocol: Protocol): V2SwapRow | undefined {
  if (row.kind !== "swap" || protocol.swapFees === undefined) return undefined;
  const { poolAddress, time, blockNumber, logIndex, txHash, valueUsd, feeUsd } = row;
  const [amount0 = 0n, amount1 = 0n] = readIntegers(row.amounts);
  return {
    ...{ poolAddress, time, blockNumber, logIndex, txHash, valueUsd, feeUsd },
    moved: { amount0, amount1 },
    fees: protocol.swapFees(protocol.read(row.state)),
  };
}

export function countV2Swap(bucket: V2Bucket, { moved, fees, valueUsd, feeUsd }: V2SwapRow): void {
  addV2Swap(bucket, { amount0: moved.amount0, amount1: moved.amount1, valueUsd });
  const { amount0, amount1, totalSupply } = fees;
  addV2Fees(bucket, { amount0, amount1, totalSupply, feeUsd });
}

/** A bucket of one swap: what it adds to each that holds it. */
export function v2BucketOf(swap: V2SwapRow): V2Bucket {
  const bucket = emptyV2Bucket();
  countV2Swap(bucket, swap);
  return bucket;
}

export function toLargeSwap(swap: V2SwapRow): LargeSwap {
  const { valueUsd, blockNumber, logIndex, time, txHash, moved } = swap;
  return { valueUsd, blockNumber, logIndex, time, txHash, zeroForOne: isZeroForOne(moved) };
}

export function largestOfRows(swaps: readonly V2SwapRow[]): LargeSwap[] {
  return largestOf(swaps.map(toLargeSwap));
}
