import { type LargeSwap, largestOf } from "../../metrics/large-swaps.ts";
import { addV2Fees, addV2Swap, isZeroForOne, type V2Bucket } from "../../metrics/v2-bucket.ts";
import { readIntegers } from "../../protocols/integers.ts";
import type { Protocol, SwapFees } from "../../protocols/protocol.ts";
import type { PoolEventRow } from "../../store/collections.ts";

/** A swap's row, and what its pool says of its fees: all that the hours and days of a v2 pool count. */
export interface V2SwapRow
  extends Pick<
    PoolEventRow,
    "poolAddress" | "time" | "blockNumber" | "logIndex" | "txHash" | "amounts" | "valueUsd" | "feeUsd"
  > {
  readonly fees: SwapFees;
}

/** Of a stored row; undefined where it is no swap, or its pool keeps no such hours. */
export function toV2Swap(row: PoolEventRow, protocol: Protocol): V2SwapRow | undefined {
  if (row.kind !== "swap" || protocol.swapFees === undefined) return undefined;
  return { ...row, fees: protocol.swapFees(protocol.read(row.state)) };
}

export function countV2Swap(bucket: V2Bucket, swap: V2SwapRow): void {
  addV2Swap(bucket, { ...amountsOf(swap), valueUsd: swap.valueUsd });
  addV2Fees(bucket, { ...swap.fees, feeUsd: swap.feeUsd });
}

export function toLargeSwap(swap: V2SwapRow): LargeSwap {
  const { valueUsd, blockNumber, logIndex, time, txHash } = swap;
  return { valueUsd, blockNumber, logIndex, time, txHash, zeroForOne: isZeroForOne(amountsOf(swap)) };
}

export function largestOfRows(swaps: readonly V2SwapRow[]): LargeSwap[] {
  return largestOf(swaps.map(toLargeSwap));
}

function amountsOf({ amounts }: V2SwapRow): { amount0: bigint; amount1: bigint } {
  const [amount0 = 0n, amount1 = 0n] = readIntegers(amounts);
  return { amount0, amount1 };
}
