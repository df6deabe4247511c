import { expectedSum, expectedTvl } from "./v2-expectation.ts";
import { MIDNIGHT, type Sample } from "./v2-sample.ts";
import { DAY, type WorldPool } from "./v2-world.ts";

/** Every fee the wallet had a share of, at today's prices. */
export function expectedFees({ world }: Sample, options: { wallet: string; days: number }): number {
  return world.feeShares
    .filter(
      ({ wallet, time }) =>
        wallet === options.wallet && time < MIDNIGHT && time >= MIDNIGHT - options.days * DAY,
    )
    .reduce((sum, { pool, amount0, amount1 }) => {
      const usd0 = (amount0 / 10 ** pool.token0.decimals) * (pool.token0.priceUsd as number);
      const usd1 = (amount1 / 10 ** pool.token1.decimals) * (pool.token1.priceUsd as number);
      return sum + usd0 + usd1;
    }, 0);
}

/** Swap fees of whole days before midnight, a year's worth, of TVL. */
export function expectedApr({ world }: Sample, { pool, days }: { pool: WorldPool; days: number }): number {
  const swaps = world.swaps.filter((swap) => swap.pool === pool);
  const { feesUsd } = expectedSum(swaps, MIDNIGHT - days * DAY, MIDNIGHT);
  return (((feesUsd as number) / days) * 365) / (expectedTvl(pool) as number);
}
