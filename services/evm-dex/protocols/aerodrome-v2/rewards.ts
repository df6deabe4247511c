import type { V2State } from "./state.ts";

type Rewards = Pick<V2State, "rewardRate" | "periodFinish">;

const WEEK = 7 * 86_400;

/** The end of the epoch that holds a second: the next Thursday, 00:00 UTC. The Unix era began on a Thursday. */
export function epochEnd(time: number): number {
  return time - (time % WEEK) + WEEK;
}

/**
 * After NotifyReward: the amount, and what is left of the period under way, paid out evenly until the epoch's end.
 * Source: Aerodrome Gauge._notifyRewardAmount.
 */
export function withReward(before: Rewards, { amount, time }: { amount: bigint; time: number }): Rewards {
  const periodFinish = epochEnd(time);
  const leftover = time < before.periodFinish ? BigInt(before.periodFinish - time) * before.rewardRate : 0n;
  return { rewardRate: (amount + leftover) / BigInt(periodFinish - time), periodFinish };
}
