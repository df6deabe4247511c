import type { AerodromePool } from "../../../../deploy/devnet/aerodrome/deploy.ts";
import type { Address } from "../../../../deploy/devnet/node/transactions.ts";
import type { TestChain } from "../../../../deploy/devnet/testkit.ts";

const HOUR = 3_600;
const DAY = 86_400;
/** Blocks with trades, and hours between them: some five weeks, the last two days busier. */
const GAPS = [
  ...Array<number>(30).fill(DAY - 1_000),
  ...Array<number>(24).fill(6 * HOUR + 77),
  ...Array<number>(36).fill(HOUR + 301),
  ...Array<number>(12).fill(2),
];
/** USD of rows are rounded to a millionth. */

/** Trades on every pool in every block, LPs who come, go, stake and claim, and one account with LP tokens of two pools. */
export async function liveOnPools(chain: TestChain): Promise<void> {
  const { aerodrome } = chain;
  const [, stable, aero] = aerodrome.pools as [AerodromePool, AerodromePool, AerodromePool];
  const from = aerodrome.providers[0] as Address;
  const wallet = chain.accounts.at(-1) as Address;
  const give = async ({ address }: AerodromePool, part: bigint) =>
    aerodrome.transferLp(address, {
      from,
      to: wallet,
      amount: (await aerodrome.lpBalance(address, from)) / part,
    });
  await aerodrome.setCustomFee(stable.address, 9);
  for (const [i, gap] of GAPS.entries()) {
    for (const [n, pool] of aerodrome.pools.entries()) await trade(chain, pool, i + n);
    await chain.sendTransactions(aerodrome.randomTransactions(i, 3));
    if (i === 5) await give(stable, 4n);
    if (i === 20) await give(aero, 5n);
    if (i === 45) await stakeHalf(chain, aero, wallet);
    if (i === 60) await aerodrome.claimFees(stable.address, { from: wallet });
    if (i === 70) await give(stable, 9n);
    // The stable pool's gauge gets nothing in the last weeks.
    if (i === GAPS.length - 4) await aerodrome.notifyReward(aero.gauge as Address, 10n ** 22n);
    await chain.mine(1, { intervalS: gap });
  }
}

async function trade(chain: TestChain, pool: AerodromePool, i: number): Promise<void> {
  const zeroForOne = (i * 7) % 3 === 0;
  const token = zeroForOne ? pool.token0 : pool.token1;
  const usd = pool.spec.swapUsd * (1 + (i % 11) / 7);
  const amountIn = BigInt(Math.round((usd / token.usd) * 10 ** token.decimals));
  await chain.aerodrome.swap(pool.address, { zeroForOne, amountIn, from: chain.accounts[3] as Address });
}

async function stakeHalf(chain: TestChain, pool: AerodromePool, from: Address): Promise<void> {
  const balance = await chain.aerodrome.lpBalance(pool.address, from);
  await chain.aerodrome.stake(pool.gauge as Address, { amount: balance / 2n, from });
}
