import { createRandom } from "../../../../deploy/devnet/random.ts";
import { address } from "../kit/rows.ts";
import { DAY, HOUR, V2World, type WorldPool, type WorldSwap } from "./v2-world.ts";

/** A Thursday, 00:00 UTC. */
export const MIDNIGHT = 1_759_968_000;
/** In the eleventh hour of the day. */
export const HEAD = MIDNIGHT + 10 * HOUR + 1_234;
export const LAST_HOUR = MIDNIGHT + 10 * HOUR;
export const ALICE = address(0xa11ce);
export const BOB = address(0xb0b);
const ETHER = 10n ** 18n;
/** What LP tokens are counted in here. */
export const LP = 10n ** 10n;
/** All other providers. */
const OTHER = address(0x1e9a);

export interface Sample {
  readonly world: V2World;
  /** Volatile, with a gauge that pays, older than the index. */
  readonly weth: WorldPool;
  /** Stable, without a gauge, created since the index began. */
  readonly usdt: WorldPool;
  /** One of its tokens has no price. */
  readonly dust: WorldPool;
  /** A gauge that has paid all it had. */
  readonly aero: WorldPool;
}

/** Times at which a window begins, ends or changes its part, each with the second before it. */
const EDGES = [0, 1, 2, 7, 8, 14, 30, 31]
  .map((days) => MIDNIGHT - days * DAY)
  .concat([LAST_HOUR, LAST_HOUR + HOUR, LAST_HOUR - 23 * HOUR, LAST_HOUR - 47 * HOUR])
  .flatMap((time) => [time - 1, time])
  .filter((time) => time <= HEAD)
  .concat([HEAD]);

/** Some weeks of four pools: swaps at every edge of a window and at random times between, LPs that join and leave. */
export function sampleWorld({
  indexedFrom = MIDNIGHT - 40 * DAY,
  rewardUsd = 0.5,
}: {
  indexedFrom?: number;
  rewardUsd?: number | null;
} = {}): Sample {
  const world = new V2World({ head: HEAD, indexedFrom, rewardUsd });
  const WETH = world.addToken({ symbol: "WETH", decimals: 18, priceUsd: 3_000 });
  const USDC = world.addToken({ symbol: "USDC", decimals: 6, priceUsd: 1 });
  const USDT = world.addToken({ symbol: "USDT", decimals: 6, priceUsd: 1.001 });
  const DUST = world.addToken({ symbol: "DUST", decimals: 9, priceUsd: null });
  const paying = { rewardRate: 3n * 10n ** 16n, periodFinish: HEAD + 1 };
  const paid = { rewardRate: 10n ** 18n, periodFinish: HEAD };
  const weth = world.addPool({
    ...{ token0: WETH, token1: USDC, fee: 30, gauge: paying },
    ...{ reserve0: 200n * ETHER, reserve1: 601_000_000_000n },
    row: { createdAt: indexedFrom - 3 * DAY },
  });
  const usdt = world.addPool({
    ...{ token0: USDC, token1: USDT, fee: 5 },
    ...{ reserve0: 900_000_000_000n, reserve1: 1_100_000_123_456n },
    row: { stable: true, fee: 500, createdAt: indexedFrom + 20, createdBlock: 110 },
  });
  const dust = world.addPool({
    ...{ token0: WETH, token1: DUST, fee: 100, gauge: paying },
    ...{ reserve0: ETHER, reserve1: 77_777n * 10n ** 9n },
    row: { createdAt: indexedFrom - DAY },
  });
  const aero = world.addPool({
    ...{ token0: world.rewardToken, token1: USDC, fee: 30, gauge: paid },
    ...{ reserve0: 4_000n * ETHER, reserve1: 2_000_000_000n },
    row: { createdAt: indexedFrom - 2 * DAY },
  });
  for (const [i, pool] of [weth, usdt, dust, aero].entries()) trade(world, pool, i + 1);
  provide(world, { weth, usdt, aero });
  return { world, weth, usdt, dust, aero };
}

function trade(world: V2World, pool: WorldPool, seed: number): void {
  const random = createRandom(seed);
  const earliest = Math.max(world.indexedFrom, pool.row.createdAt) + 60;
  const span = HEAD - earliest;
  const times = [...EDGES, ...Array.from({ length: 150 }, () => earliest + random.below(span))];
  for (const time of times.filter((each) => each >= earliest))
    world.swaps.push(anySwap(pool, { time, random }));
}

function anySwap(
  pool: WorldPool,
  { random, time }: { time: number; random: ReturnType<typeof createRandom> },
): WorldSwap {
  const isForward = random.below(2) === 0;
  const [reserveIn, reserveOut] = isForward ? [pool.reserve0, pool.reserve1] : [pool.reserve1, pool.reserve0];
  const part = BigInt(1 + random.below(9_999));
  const amountIn = (reserveIn * part) / 1_000_000n;
  const amountOut = (reserveOut * part) / 1_000_001n;
  const fee = (amountIn * BigInt(pool.fee)) / 10_000n;
  const isPriced = pool.token0.priceUsd !== null && pool.token1.priceUsd !== null;
  return {
    pool,
    time,
    ...(isForward ? { amount0: amountIn, amount1: -amountOut } : { amount0: -amountOut, amount1: amountIn }),
    ...(isForward ? { fee0: fee, fee1: 0n } : { fee0: 0n, fee1: fee }),
    // Prices of the past are not those of today.
    valueUsd: isPriced ? (1 + random.below(1_000_000)) / 1_024 : null,
    feeUsd: isPriced ? (1 + random.below(10_000)) / 1_024 : null,
  };
}

/** Alice holds, stakes and unstakes; Bob joins late and leaves. */
function provide(world: V2World, { weth, usdt, aero }: Pick<Sample, "weth" | "usdt" | "aero">): void {
  const begin = Math.max(world.indexedFrom, MIDNIGHT - 39 * DAY) + 30;
  const move = (pool: WorldPool, time: number, wallet: string) => ({
    gets: (amount: bigint) => world.moves.push({ pool, time, wallet, kind: "transfer", amount }),
    stakes: (amount: bigint) => world.moves.push({ pool, time, wallet, kind: "stake", amount }),
  });
  for (const pool of [weth, usdt, aero]) move(pool, begin, OTHER).gets(700n * LP);
  move(weth, begin + 5, ALICE).gets(300n * LP);
  move(weth, MIDNIGHT - 12 * DAY + 7_000, ALICE).stakes(200n * LP);
  move(weth, MIDNIGHT - 3 * DAY, ALICE).stakes(-50n * LP);
  move(usdt, MIDNIGHT - 7 * DAY - 1, ALICE).gets(40n * LP);
  move(usdt, MIDNIGHT - 2 * DAY + 11, ALICE).gets(-15n * LP);
  move(aero, MIDNIGHT - 20 * DAY, ALICE).gets(100n * LP);
  move(aero, MIDNIGHT - 4 * DAY + 600, ALICE).gets(-100n * LP);
  move(weth, MIDNIGHT - 5 * DAY, BOB).gets(10n * LP);
  move(weth, MIDNIGHT - 1, BOB).gets(-10n * LP);
}
