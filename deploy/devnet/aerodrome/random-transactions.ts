import type { Address, Transaction } from "../node/transactions.ts";
import { createRandom } from "../random.ts";
import type { AerodromeDeployment } from "./deploy.ts";
import { aerodromeTransactions as make } from "./transactions.ts";

/**
 * Random transactions of all kinds on the deployment's pools and gauges, which fit whatever happened before: amounts of
 * LP tokens are tiny against what the first provider holds and has staked.
 */
export function randomAerodromeTransactions(
  { pools, providers, desk, voter }: AerodromeDeployment,
  { seed, count }: { seed: number; count: number },
): Transaction[] {
  const random = createRandom(seed);
  const holder = providers[0] as Address;
  const transactionOn = (pool: (typeof pools)[number]): Transaction => {
    const { address, token0, token1, gauge, spec } = pool;
    const raw = (token: typeof token0, usd: number) =>
      BigInt(Math.ceil((usd / token.usd) * 10 ** token.decimals));
    const zeroForOne = random.next() < 0.5;
    const usd = spec.swapUsd * Math.exp(0.8 * random.normal());
    const swap = { pool: address, zeroForOne, amountIn: raw(zeroForOne ? token0 : token1, usd) };
    const amount = BigInt(1_000 + random.below(1_000_000));
    const kind = random.next();
    if (kind < 0.4) return make.swap(random.pick(providers), desk, swap);
    if (kind < 0.5) {
      const amounts: [bigint, bigint] = [raw(token0, usd), raw(token1, usd)];
      return make.addLiquidity(random.pick(providers), desk, { pool: address, amounts });
    }
    if (kind < 0.58) {
      // Enough for a unit of either token to come out.
      const liquidity = amount * 10n ** 6n;
      return make.removeLiquidity(holder, desk, { pool: address, liquidity });
    }
    if (kind < 0.68) return make.transfer(holder, address, { to: random.pick(providers), amount });
    if (kind < 0.75 || !gauge) return make.claimFees(random.pick(providers), address);
    if (kind < 0.82) return make.stake(holder, gauge, { amount, recipient: random.pick(providers) });
    if (kind < 0.9) return make.unstake(holder, gauge, amount);
    if (kind < 0.95) return make.claimRewards(random.pick(providers), gauge);
    return make.distribute(random.pick(providers), voter, { gauge, amount: amount * 10n ** 15n });
  };
  return Array.from({ length: count }, () => transactionOn(random.pick(pools)));
}
