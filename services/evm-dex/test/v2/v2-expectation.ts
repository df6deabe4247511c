import type { WorldPool, WorldSwap } from "./v2-world.ts";

/** Sums over the swaps of a span of time. */
interface ExpectedSum {
  readonly count: number;
  readonly volumeUsd: number | null;
  readonly feesUsd: number | null;
  readonly volume0: bigint;
  readonly volume1: bigint;
  readonly fees0: bigint;
  readonly fees1: bigint;
  readonly swaps: readonly WorldSwap[];
}

/** Of the swaps from `start` on and before `end`. */
export function expectedSum(swaps: readonly WorldSwap[], start: number, end: number): ExpectedSum {
  const inside = swaps.filter(({ time }) => start <= time && time < end);
  const usd = (values: readonly (number | null)[]) =>
    values.includes(null) ? null : values.reduce<number>((sum, value) => sum + (value as number), 0);
  const raw = (values: readonly bigint[]) =>
    values.reduce((sum, value) => sum + (value < 0n ? -value : value), 0n);
  return {
    count: inside.length,
    volumeUsd: usd(inside.map(({ valueUsd }) => valueUsd)),
    feesUsd: usd(inside.map(({ feeUsd }) => feeUsd)),
    volume0: raw(inside.map(({ amount0 }) => amount0)),
    volume1: raw(inside.map(({ amount1 }) => amount1)),
    fees0: raw(inside.map(({ fee0 }) => fee0)),
    fees1: raw(inside.map(({ fee1 }) => fee1)),
    swaps: inside,
  };
}

export function whole(raw: bigint, decimals: number): number {
  return Number(raw) / 10 ** decimals;
}

/** Reserves at today's prices. */
export function expectedTvl({ reserve0, reserve1, token0, token1 }: WorldPool): number | null {
  if (token0.priceUsd === null || token1.priceUsd === null) return null;
  return (
    whole(reserve0, token0.decimals) * token0.priceUsd + whole(reserve1, token1.decimals) * token1.priceUsd
  );
}

/** A year of a gauge's rewards on what is staked in it. */
export function expectedRewardApr({
  rewardRate,
  rewardUsd,
  tvlUsd,
  staked,
  totalSupply,
}: {
  rewardRate: bigint;
  rewardUsd: number;
  staked: bigint;
  totalSupply: bigint;
  tvlUsd: number;
}): number {
  const yearUsd = whole(rewardRate, 18) * 365 * 24 * 3_600 * rewardUsd;
  return yearUsd / (tvlUsd * (Number(staked) / Number(totalSupply)));
}
