import type { Mutable } from "../../../shared/mutable.ts";
import { feeGrowth } from "../../metrics/v2-bucket.ts";
import type { V2Event } from "./events.ts";
import { withCustomFee, withFeeOfSwap } from "./fees.ts";
import { withReward } from "./rewards.ts";
import type { V2State } from "./state.ts";

export const ZERO_ADDRESS = `0x${"0".repeat(40)}`;

/**
 * The state after an event of the pool, its factory, voter or gauge; `time` is the block's. The frequent events change a
 * copy (docs/decisions/0084).
 */
export function applyV2(state: V2State, event: V2Event, time: number): V2State {
  switch (event.kind) {
    case "fees": {
      const next: Mutable<V2State> = { ...state };
      next.index0 += feeGrowth(event.amount0, state.totalSupply);
      next.index1 += feeGrowth(event.amount1, state.totalSupply);
      next.swapFee0 = (state.isSwapping ? state.swapFee0 : 0n) + event.amount0;
      next.swapFee1 = (state.isSwapping ? state.swapFee1 : 0n) + event.amount1;
      next.isSwapping = true;
      return next;
    }
    case "sync": {
      const next: Mutable<V2State> = { ...state };
      next.reserve0 = event.reserve0;
      next.reserve1 = event.reserve1;
      return next;
    }
    case "swap": {
      const next: Mutable<V2State> = { ...state };
      if (!state.isSwapping) {
        next.swapFee0 = 0n;
        next.swapFee1 = 0n;
      }
      const { fee, defaultFee, hasCustomFee } = withFeeOfSwap(state, event, next);
      next.fee = fee;
      next.defaultFee = defaultFee;
      next.hasCustomFee = hasCustomFee;
      next.isSwapping = false;
      return next;
    }
    case "transfer": {
      const minted = event.from === ZERO_ADDRESS ? event.amount : 0n;
      const burnt = event.to === ZERO_ADDRESS ? event.amount : 0n;
      const next: Mutable<V2State> = { ...state };
      next.totalSupply = atLeastZero(state.totalSupply + minted - burnt);
      return next;
    }
    case "set_custom_fee":
      return { ...state, ...withCustomFee(state, event.fee) };
    case "gauge_created":
      return {
        ...state,
        gauge: event.gauge,
        isGaugeAlive: true,
        staked: 0n,
        rewardRate: 0n,
        periodFinish: 0,
      };
    case "gauge_killed":
      return { ...state, isGaugeAlive: false };
    case "gauge_revived":
      return { ...state, isGaugeAlive: true };
    case "deposit":
      return { ...state, staked: state.staked + event.amount };
    case "withdraw":
      return { ...state, staked: atLeastZero(state.staked - event.amount) };
    case "notify_reward":
      return { ...state, ...withReward(state, { amount: event.amount, time }) };
    default:
      return state;
  }
}

/** Below zero only where the state before the index was unavailable. */
function atLeastZero(amount: bigint): bigint {
  return amount < 0n ? 0n : amount;
}
