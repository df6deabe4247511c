import type { Entity } from "../protocol.ts";
import type { AggregationState } from "./aggregation-state.ts";
import { min } from "./bigints.ts";
import { MAX_CAP } from "./earn-state.ts";
import { allocate, type EarnView, overAllocations, type StrategyView } from "./earn-view.ts";
import { decodeAmountCap } from "./evk-view.ts";

/** The most that votes, which its shares are, can count: there is no other limit to deposits. */
const MAX_SUPPLY = (1n << 208n) - 1n;

/**
 * An EulerEarn vault of before August 2025 at `time` (Unix seconds), as other earn vaults are shown. Its supply is what
 * its shares stand for: harvested yield counts as it is handed out, other yield not yet. Source: EulerEarn, Shared.
 */
export function viewAggregation(
  { id, state }: Entity<AggregationState>,
  { time, viewStrategy }: { time: number; viewStrategy: (address: string) => StrategyView | undefined },
): EarnView {
  const allocations = state.strategies
    .filter(({ isActive }) => isActive)
    .map((strategy) => {
      const cap = decodeAmountCap(strategy.cap) ?? MAX_CAP;
      return allocate({ ...strategy, cap }, viewStrategy(strategy.vault));
    });
  const supplied = state.deposited + interestUpTo(state, time);
  const whole = overAllocations(allocations, supplied);
  return {
    address: id,
    state,
    curator: BigInt(state.admin) === 0n ? null : state.admin,
    ...whole,
    supplied,
    shares: state.totalSupply,
    virtualAmount: 1n,
    available: state.refused.includes("withdraw") ? 0n : min(supplied, state.cash + whole.available),
    depositable: state.refused.includes("deposit") ? 0n : MAX_SUPPLY,
    supplyCap: null,
  };
}

function interestUpTo(
  { totalSupply, interestLeft, lastUpdate, smearEnd }: AggregationState,
  time: number,
): bigint {
  if (totalSupply === 0n || time <= lastUpdate) return 0n;
  if (time >= smearEnd) return interestLeft;
  return (interestLeft * BigInt(time - lastUpdate)) / BigInt(smearEnd - lastUpdate);
}
