import { YEAR_SECONDS } from "./window.ts";

/** feesUsd / days × 365 / TVL, null where one of them is unknown or nothing is locked. */
export function swapFeeApr(
  feesUsd: number | null,
  { tvlUsd, days }: { days: number; tvlUsd: number | null },
): number | null {
  if (feesUsd === null || tvlUsd === null || tvlUsd <= 0) return null;
  return ((feesUsd / days) * 365) / tvlUsd;
}

export interface Rewards {
  /** Whole reward tokens a second. */
  readonly rate: number;
  /** Unix seconds; nothing is paid from then on. */
  readonly periodFinish: number;
  readonly priceUsd: number | null;
  /** USD value of the LP tokens in the gauge. */
  readonly stakedUsd: number | null;
}

/**
 * rate × 31,536,000 × price / staked USD. 0 where no rewards are running; null where a price is unknown, or where
 * rewards run and nothing is staked, since what the first to stake would earn has no bound.
 */
export function rewardApr(rewards: Rewards | undefined, now: number): number | null {
  if (rewards === undefined || rewards.rate === 0 || now >= rewards.periodFinish) return 0;
  const { rate, priceUsd, stakedUsd } = rewards;
  if (priceUsd === null || stakedUsd === null || stakedUsd <= 0) return null;
  return (rate * YEAR_SECONDS * priceUsd) / stakedUsd;
}

/** The sum, null as soon as a part is. */
export function totalApr(swapFee: number | null, reward: number | null): number | null {
  return swapFee === null || reward === null ? null : swapFee + reward;
}
