import { decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import type { AerodromeDeployment, AerodromePool } from "../aerodrome/deploy.ts";
import { aerodromeTransactions as transactions } from "../aerodrome/transactions.ts";
import { aerodromeGaugeAbi, aerodromePoolAbi } from "../contracts/aerodrome/abi.ts";
import type { Address } from "../node/transactions.ts";
import type { Random } from "../random.ts";
import { pairPrice } from "../ticks.ts";
import { type Planned, poisson, type Round, swapSize, toRaw, towards, wheelOf } from "./round.ts";
import { wanderOf } from "./wander.ts";

const RESERVES = encodeFunctionData({ abi: aerodromePoolAbi, functionName: "getReserves" });
const SUPPLY = encodeFunctionData({ abi: aerodromePoolAbi, functionName: "totalSupply" });
const PERIOD_FINISH = encodeFunctionData({ abi: aerodromeGaugeAbi, functionName: "periodFinish" });

/** Rounds of swaps, of what providers do with their LP tokens, and of rewards for gauges. */
export function createAerodromeRounds(
  deployment: AerodromeDeployment,
  { random, rewardUsd }: { random: Random; rewardUsd: number },
): (options: { swaps: number }) => Round {
  const { pools, desk, voter } = deployment;
  const wheel = wheelOf(pools);
  const gauged = pools.filter(({ gauge }) => gauge !== undefined);

  return ({ swaps }) => {
    const swapped = Array.from(
      { length: poisson(random, swaps) },
      () => pools[random.pick(wheel)] as AerodromePool,
    );
    const provided = random.next() < 0.25 ? chooseProvision(deployment, random) : undefined;
    const rewarded = random.pick(gauged);
    const reads = [
      { to: rewarded.gauge as Address, data: PERIOD_FINISH },
      ...swapped.map(({ address }) => ({ to: address, data: RESERVES })),
      ...(provided?.reads ?? []),
    ];
    return {
      reads,
      plan(answers, timeS): Planned[] {
        const [finish, ...rest] = answers;
        const planned = swapped.map((pool, i): Planned => {
          const swap = { pool: pool.address, ...swapOn(pool, { data: rest[i] as Hex, timeS, random }) };
          return { make: (from) => transactions.swap(from, desk, swap) };
        });
        if (provided) planned.push(...provided.plan(rest.slice(swapped.length)));
        const isOver = timeS >= Number(BigInt(finish as Hex));
        if (isOver || random.next() < 0.02) {
          // A new week's rewards whole, else a little more for the running one.
          const usd = (rewarded.spec.rewardUsdPerWeek ?? 0) * (isOver ? 1 : 0.02);
          const amount = BigInt(Math.ceil(usd / rewardUsd)) * 10n ** 18n;
          const gauge = rewarded.gauge as Address;
          planned.push({ make: (from) => transactions.distribute(from, voter, { gauge, amount }) });
        }
        return planned;
      },
    };
  };
}

/** A swap that leads back to the target price, the likelier the further away it is. On a stable pool the balance of the sides stands for the price. */
function swapOn(
  pool: AerodromePool,
  { data, timeS, random }: { data: Hex; timeS: number; random: Random },
): { zeroForOne: boolean; amountIn: bigint } {
  const { token0, token1, stable, spec } = pool;
  const [reserve0, reserve1] = decodeFunctionResult({
    abi: aerodromePoolAbi,
    functionName: "getReserves",
    data,
  });
  const tick = Math.log(Number(reserve1) / Number(reserve0)) / Math.log(1.0001);
  const away = tick - pairPrice(token0, token1).tick - wanderOf(pool, timeS);
  const zeroForOne = towards(away / (stable ? 2_000 : 60), random);
  return { zeroForOne, amountIn: toRaw(swapSize(spec, random), zeroForOne ? token0 : token1) };
}

interface Provision {
  readonly reads: Round["reads"];
  plan(answers: readonly Hex[]): Planned[];
}

/** One provider does one thing with one pool's LP tokens. */
function chooseProvision({ pools, providers, desk }: AerodromeDeployment, random: Random): Provision {
  const pool = random.pick(pools);
  const provider = random.pick(providers);
  const { address, gauge } = pool;
  const balance = encodeFunctionData({ abi: aerodromePoolAbi, functionName: "balanceOf", args: [provider] });
  const reads = [RESERVES, SUPPLY, balance].map((data) => ({ to: address, data }));
  if (gauge) reads.push({ to: gauge, data: balance });
  const plan = (answers: readonly Hex[]): Planned[] => {
    const [reserves, ...amounts] = answers;
    const [supply, held, staked = 0n] = amounts.map(BigInt) as [bigint, bigint, bigint?];
    const hand: Hand = { pool, desk, provider, supply, held, staked, random };
    const make = chooseLiquidity(hand, reserves as Hex) ?? chooseTokens(hand, providers);
    return [{ from: provider, make }];
  };
  return { reads, plan };
}

/** A provider with its LP tokens of one pool. */
interface Hand {
  readonly pool: AerodromePool;
  readonly desk: Address;
  readonly provider: Address;
  readonly supply: bigint;
  readonly held: bigint;
  readonly staked: bigint;
  readonly random: Random;
}

/** Adds or removes up to a hundredth of the pool, so that what one has stays between a hundredth and a half of it. */
function chooseLiquidity(hand: Hand, data: Hex): Planned["make"] | undefined {
  const { pool, desk, supply, held, staked, random } = hand;
  const choice = random.next();
  const part = BigInt(1 + random.below(8));
  const all = held + staked;
  if (all < supply / 100n || (choice < 0.2 && all < supply / 2n)) {
    const abi = aerodromePoolAbi;
    const [reserve0, reserve1] = decodeFunctionResult({ abi, functionName: "getReserves", data });
    const amounts: [bigint, bigint] = [(reserve0 * part) / 1_000n, (reserve1 * part) / 1_000n];
    return (from) => transactions.addLiquidity(from, desk, { pool: pool.address, amounts });
  }
  if (choice >= 0.4 || held === 0n) return undefined;
  const most = (supply * part) / 1_000n;
  const liquidity = held < most ? held : most;
  return (from) => transactions.removeLiquidity(from, desk, { pool: pool.address, liquidity });
}

/** Gives LP tokens away, stakes or unstakes some, or claims what they earned. */
function chooseTokens(hand: Hand, providers: readonly Address[]): Planned["make"] {
  const { pool, provider, held, staked, random } = hand;
  const { address, gauge } = pool;
  const choice = random.next();
  const some = (all: bigint) => (all * BigInt(50 + random.below(250))) / 1_000n;
  if (choice < 0.2 && held > 1_000n) {
    const to = random.pick(providers.filter((other) => other !== provider));
    return (from) => transactions.transfer(from, address, { to, amount: some(held) });
  }
  if (choice < 0.4 || !gauge) return (from) => transactions.claimFees(from, address);
  if (choice < 0.6 && held > 1_000n) return (from) => transactions.stake(from, gauge, { amount: some(held) });
  if (choice < 0.8 && staked > 1_000n) return (from) => transactions.unstake(from, gauge, some(staked));
  return (from) => transactions.claimRewards(from, gauge);
}
