import type { SwapEvent } from "./events.ts";
import type { V2State } from "./state.ts";

type Fee = Pick<V2State, "fee" | "defaultFee" | "hasCustomFee">;

/** Fees are in ten-thousandths. */
const UNIT = 10_000n;
/** The custom fee that means zero, since 0 removes a custom fee. Source: Aerodrome PoolFactory. */
const ZERO_FEE_INDICATOR = 420;

/** After the factory's SetCustomFee. */
export function withCustomFee(before: Fee, customFee: number): Fee {
  const { defaultFee } = before;
  if (customFee === 0) return { fee: defaultFee, defaultFee, hasCustomFee: false };
  return { fee: customFee === ZERO_FEE_INDICATOR ? 0 : customFee, defaultFee, hasCustomFee: true };
}

/**
 * The fee after a swap. The factory changes its default fees without an event, but every swap reveals the fee in
 * force (between two of them the index reads the factory): a pool takes floor(amountIn × fee / 10,000), which no other fee gives where amountIn is 10,000 or more.
 */
export function withFeeOfSwap(before: Fee, swap: SwapEvent, taken: SwapFeeAmounts): Fee {
  const fee = feeOfSwap(swap.amount0In, taken.swapFee0) ?? feeOfSwap(swap.amount1In, taken.swapFee1);
  if (fee === undefined || fee === before.fee) return before;
  return {
    fee,
    defaultFee: before.hasCustomFee ? before.defaultFee : fee,
    hasCustomFee: before.hasCustomFee,
  };
}

interface SwapFeeAmounts {
  readonly swapFee0: bigint;
  readonly swapFee1: bigint;
}

function feeOfSwap(amountIn: bigint, taken: bigint): number | undefined {
  if (amountIn < UNIT || taken > amountIn) return undefined;
  const fee = (taken * UNIT + amountIn - 1n) / amountIn;
  return (amountIn * fee) / UNIT === taken ? Number(fee) : undefined;
}
