import { decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from "viem";
import { poolAbi, positionKey } from "../contracts/uniswap.ts";
import { type Action, deskTransaction, type Range } from "../desk.ts";
import type { Address } from "../node/transactions.ts";
import { basePositions, type DeployedPool } from "../pools.ts";
import type { Random } from "../random.ts";
import { rangeAround } from "../ticks.ts";
import { type Planned, poisson, type Round, swapSize, toRaw, towards, wheelOf } from "./round.ts";
import { wanderOf } from "./wander.ts";

/** The two values that every kin of Uniswap v3 begins its slot0 with. */
const slot0Abi = parseAbi(["function slot0() view returns (uint160 sqrtPriceX96, int24 tick)"]);
const SLOT0 = encodeFunctionData({ abi: slot0Abi, functionName: "slot0" });

/** Half widths in ticks of the positions that traders open and close. */
const TRADER_RANGES = [400, 800, 1_400, 3_000] as const;

interface Prepared {
  readonly pool: DeployedPool;
  /** What traders open and close. */
  readonly positions: readonly Range[];
  /** What stays for ever. */
  readonly fixed: readonly (Range & { liquidity: bigint })[];
}

/** Rounds of swaps and liquidity on the desk's pools. `mustTrade`: the first pool does in this round. */
export function createDeskRounds(
  pools: readonly DeployedPool[],
  { desk, random }: { desk: Address; random: Random },
): (options: { swaps: number; mustTrade: boolean }) => Round {
  const prepared = pools.map((pool): Prepared => {
    const fixed = basePositions(pool);
    return { pool, fixed, positions: traderPositions(pool, fixed) };
  });
  const wheel = wheelOf(pools);

  return ({ swaps, mustTrade }) => {
    const chosen = Array.from({ length: poisson(random, swaps) }, () => random.pick(wheel));
    if (mustTrade) chosen.push(0);
    const dealt = random.next() < 0.12 ? random.pick(prepared) : undefined;
    const range = dealt && random.pick(dealt.positions);
    const reads = chosen.map((i) => ({ to: (pools[i] as DeployedPool).address, data: SLOT0 }));
    if (dealt && range) {
      const args = [positionKey(desk, range.lower, range.upper)] as const;
      const data = encodeFunctionData({ abi: poolAbi, functionName: "positions", args });
      reads.push({ to: dealt.pool.address, data });
    }
    return {
      reads,
      plan(answers, timeS): Planned[] {
        const batches = chosen.map((i, at): Action[] => {
          const pool = pools[i] as DeployedPool;
          const data = answers[at] as Hex;
          const [, tick] = decodeFunctionResult({ abi: slot0Abi, functionName: "slot0", data });
          return [swapTowards(pool, { tick, target: pool.startTick + wanderOf(pool, timeS) }, random)];
        });
        if (dealt && range) {
          const data = answers.at(-1) as Hex;
          const [held] = decodeFunctionResult({ abi: poolAbi, functionName: "positions", data });
          const base = dealt.fixed[0]?.liquidity ?? 0n;
          batches.push(dealLiquidity({ pool: dealt.pool.address, range, held, base }, random));
        }
        if (random.next() < 0.005) batches.push([flashSome(random.pick(pools), random)]);
        if (random.next() < 0.005) batches.push(harvest(random.pick(prepared)));
        // Now and then a trade takes two pools in one transaction.
        if (batches.length > 2 && random.next() < 0.1) batches.splice(0, 2, batches.slice(0, 2).flat());
        return batches.map((actions) => ({ make: (from) => deskTransaction(desk, from, actions) }));
      },
    };
  };
}

/** Where ticks are far apart some of them are the same, or one of those that stay for ever. */
function traderPositions({ startTick, tickSpacing }: DeployedPool, fixed: readonly Range[]): Range[] {
  const ranges = TRADER_RANGES.map((halfWidth) => rangeAround(startTick, halfWidth, tickSpacing));
  return ranges.filter(
    ({ upper }, i) =>
      !fixed.some((position) => position.upper === upper) &&
      ranges.findIndex((range) => range.upper === upper) === i,
  );
}

/** A swap of random size; the further the price is from its target, the likelier it leads back. */
function swapTowards(pool: DeployedPool, at: { tick: number; target: number }, random: Random): Action {
  const zeroForOne = towards((at.tick - at.target) / 60, random);
  const usd = swapSize(pool.spec, random);
  const exactOutput = random.next() < 0.1;
  const token = zeroForOne !== exactOutput ? pool.token0 : pool.token1;
  const amount = toRaw(usd, token);
  return { kind: "swap", pool: pool.address, zeroForOne, amount: exactOutput ? -amount : amount };
}

interface Held {
  readonly pool: Address;
  readonly range: Range;
  /** Liquidity that the desk has in the range now. */
  readonly held: bigint;
  /** Liquidity of the pool's narrowest lasting position, as the measure. */
  readonly base: bigint;
}

/** Opens, adds to, reduces or closes one position, so that what traders hold stays between nothing and a tenth of the pool's. */
function dealLiquidity({ pool, range, held, base }: Held, random: Random): Action[] {
  const step = (base * BigInt(5 + random.below(30))) / 1_000n;
  const full = held > base / 10n;
  if (held === 0n || (!full && random.next() < 0.5))
    return [{ kind: "mint", pool, ...range, liquidity: step }];
  const removed = full || random.next() < 0.5 || step > held ? held : step;
  return [
    { kind: "burn", pool, ...range, liquidity: removed },
    { kind: "collect", pool, ...range },
  ];
}

function flashSome(pool: DeployedPool, random: Random): Action {
  const usd = pool.spec.swapUsd * (1 + random.below(5));
  return { kind: "flash", pool: pool.address, amount0: toRaw(usd, pool.token0), amount1: 0n };
}

/** Takes the fees of a lasting position. */
function harvest({ pool, fixed }: Prepared): Action[] {
  const { lower, upper } = fixed[0] as Range;
  return [
    { kind: "burn", pool: pool.address, lower, upper, liquidity: 0n },
    { kind: "collect", pool: pool.address, lower, upper },
  ];
}
