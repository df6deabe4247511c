import { encodeFunctionData } from "viem";
import { aerodromeFactoryAbi, aerodromePoolAbi } from "../../../../deploy/devnet/contracts/aerodrome/abi.ts";
import type { Address } from "../../../../deploy/devnet/desk.ts";
import { createRandom, type Random } from "../../../../deploy/devnet/random.ts";
import type { TestChain } from "../../../../deploy/devnet/testkit.ts";

/** Blocks with random actions on Aerodrome pools and Uniswap's, some with none. */
export async function mineAerodromeBlocks(
  chain: TestChain,
  { seed, blocks, intervals }: { blocks: number; seed: number; intervals?: readonly number[] },
): Promise<void> {
  const random = createRandom(seed);
  for (let i = 0; i < blocks; i++) {
    await actOnAerodrome(chain, random, 5);
    await chain.send(chain.randomActions(random.below(1e9), random.below(2)));
    await chain.mine(1, { intervalS: random.pick(intervals ?? [2]) });
  }
}

/** Fewer than so many random transactions on pools and gauges, and now and then one that is rare. */
export async function actOnAerodrome(chain: TestChain, random: Random, most: number): Promise<void> {
  await chain.sendTransactions(chain.aerodrome.randomTransactions(random.below(1e9), random.below(most)));
  if (random.next() < 0.3) await doSomethingRare(chain, random);
}

/** What the random transactions leave out: the factory's and the voter's doings, fees on both sides, LP tokens that wander. */
async function doSomethingRare(chain: TestChain, random: Random): Promise<void> {
  const { aerodrome } = chain;
  const { pools, providers, deployment } = aerodrome;
  const pool = random.pick(pools);
  const from = random.pick(providers);
  const raw = (token: typeof pool.token0) => BigInt(Math.ceil((50 / token.usd) * 10 ** token.decimals));
  const amountsIn: [bigint, bigint] = [raw(pool.token0), raw(pool.token1)];
  const held = await aerodrome.lpBalance(pool.address, from);
  const doings: readonly (() => Promise<unknown>)[] = [
    () => aerodrome.setCustomFee(pool.address, random.pick([0, 0, 1, 25, 420])),
    () => setDefaultFee(chain, { stable: random.next() < 0.5, fee: 1 + random.below(60) }),
    () => aerodrome.swapBoth(pool.address, { amountsIn, amountsOut: [amountsIn[0] / 2n, amountsIn[1] / 2n] }),
    () => aerodrome.transferLp(pool.address, { from, to: random.pick(chain.accounts), amount: held / 7n }),
    // Without a mint or a stake: only the Transfer shows it.
    () => aerodrome.transferLp(pool.address, { from, to: from, amount: held / 3n }),
    () => sync(chain, pool.address),
    () => createGauge(chain, pool.address),
    () => toggleGauge(chain, random),
    () =>
      aerodrome.createPool({
        tokenA: random.pick(Object.values(chain.deployment.tokens)).address,
        tokenB: random.pick(Object.values(chain.deployment.tokens)).address,
        stable: random.next() < 0.5,
      }),
    () => aerodrome.claimFees(pool.address, { from: deployment.owner }),
  ];
  await random.pick(doings)();
}

/** The factory's setFee, which emits nothing. Ten-thousandths. */
export function setDefaultFee(chain: TestChain, { stable, fee }: { stable: boolean; fee: number }) {
  const { owner, factory } = chain.aerodrome.deployment;
  const args = [stable, BigInt(fee)] as const;
  return call(chain, {
    from: owner,
    to: factory,
    data: encodeFunctionData({ abi: aerodromeFactoryAbi, functionName: "setFee", args }),
  });
}

function sync(chain: TestChain, pool: Address) {
  const data = encodeFunctionData({ abi: aerodromePoolAbi, functionName: "sync" });
  return call(chain, { from: chain.accounts[3] as Address, to: pool, data });
}

async function createGauge(chain: TestChain, pool: Address): Promise<void> {
  if ((await chain.aerodrome.gaugeOf(pool)) === undefined) await chain.aerodrome.createGauge(pool);
}

async function toggleGauge(chain: TestChain, random: Random): Promise<void> {
  const gauged = chain.aerodrome.pools.flatMap(({ gauge }) => gauge ?? []);
  const gauge = random.pick(gauged);
  const { alive } = await chain.aerodrome.gauge(gauge);
  await chain.aerodrome.setGaugeAlive(gauge, !alive);
}

function call(chain: TestChain, options: { from: Address; to: Address; data: `0x${string}` }) {
  return chain.sendTransactions([{ ...options, gas: "0x124f80" }]);
}
