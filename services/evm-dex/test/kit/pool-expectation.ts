import type { DeployedPool } from "../../../../deploy/devnet/deploy.ts";
import type { TestChain } from "../../../../deploy/devnet/testkit.ts";
import { type PoolReader, uniswapReader } from "./pool-readers.ts";

/** What a v3 pool endpoint should say, worked out from the chain by viem alone: every swap, every block, no buckets. */

const DAY = 86_400;
/** [seconds, seconds between closes] of the six ranges. */
const RANGES = [
  [300, 60],
  [3_600, 60],
  [DAY, 3_600],
  [7 * DAY, 3_600],
  [30 * DAY, DAY],
  [365 * DAY, DAY],
] as const;

interface ExpectedSwap {
  readonly time: number;
  readonly user: string;
  readonly valueUsd: number | null;
  readonly feeUsd: number | null;
  readonly tickTravel: number;
  readonly closePrice: number;
}

export interface ExpectedRange {
  readonly swapVolumeUsd: number | null;
  readonly feeApr: number | null;
  readonly priceVolatilityPct: number | null;
  readonly meanAdjustedVolatilityPct: number | null;
  readonly tickPressurePer1mUsd: number | null;
  readonly swapCount: number;
  readonly uniqueUserCount: number;
}

/** USD of a token at a block; null where there is no price. */
export type PriceAt = (token: string, block: number) => Promise<number | null>;

/** Prices of a devnet whose deepest pool of WETH is its first: stablecoins are 1 USD, WETH has that pool's price. */
export function pricesOf(chain: TestChain): PriceAt {
  const { USDC, DAI, WETH } = chain.deployment.tokens;
  const deepest = chain.pools[0] as DeployedPool;
  return async (token, block) => {
    if (token === USDC.address || token === DAI.address) return 1;
    if (token !== WETH.address) return null;
    const { sqrtPriceX96 } = await chain.slot0(deepest.address, block);
    const price = wholePrice(sqrtPriceX96, deepest);
    return deepest.token0.address === WETH.address ? price : 1 / price;
  };
}

/** token1 per token0, whole tokens. */
export function wholePrice(sqrtPriceX96: bigint, { token0, token1 }: DeployedPool): number {
  return (Number(sqrtPriceX96) / 2 ** 96) ** 2 * 10 ** (token0.decimals - token1.decimals);
}

export async function tvlOf(
  chain: TestChain,
  { pool, priceAt, head }: { pool: DeployedPool; priceAt: PriceAt; head: number },
): Promise<number | null> {
  let tvlUsd = 0;
  for (const { address, decimals } of [pool.token0, pool.token1]) {
    const price = await priceAt(address, head);
    if (price === null) return null;
    tvlUsd += (Number(await chain.balanceOf(address, pool.address, head)) / 10 ** decimals) * price;
  }
  return tvlUsd;
}

/** What a swap is worth and what its providers earned by it. */
function worthOf(
  pool: DeployedPool,
  swap: {
    amounts: readonly [bigint, bigint];
    prices: readonly [number | null, number | null];
    /** The providers' part of the fee; null: unknown. */
    kept: number | null;
  },
): Pick<ExpectedSwap, "valueUsd" | "feeUsd"> {
  const usdOf = (side: 0 | 1) => {
    const price = swap.prices[side];
    const { decimals } = side === 0 ? pool.token0 : pool.token1;
    return price === null ? null : (Math.abs(Number(swap.amounts[side])) / 10 ** decimals) * price;
  };
  const [value0, value1] = bounded(pool, [usdOf(0), usdOf(1)]);
  const valueUsd = value0 !== null && value1 !== null ? (value0 + value1) / 2 : (value0 ?? value1);
  const valueIn = (swap.amounts[0] > 0n ? value0 : value1) ?? valueUsd;
  const { kept } = swap;
  return {
    valueUsd,
    feeUsd: valueIn === null || kept === null ? null : ((valueIn * pool.fee) / 1e6) * kept,
  };
}

/** The one that fewer pools price is worth no more than the other and a tenth: stablecoins, WETH, all others. */
function bounded(
  pool: DeployedPool,
  [value0, value1]: readonly [number | null, number | null],
): [number | null, number | null] {
  if (value0 === null || value1 === null) return [value0, value1];
  const rank = ({ symbol }: { symbol: string }) => ["WETH", "DAI", "USDC"].indexOf(symbol);
  const rank0 = Math.min(rank(pool.token0), 1);
  const rank1 = Math.min(rank(pool.token1), 1);
  return [
    rank0 < rank1 ? Math.min(value0, 1.1 * value1) : value0,
    rank1 < rank0 ? Math.min(value1, 1.1 * value0) : value1,
  ];
}

/** All swaps of a pool, valued at the prices of their blocks' ends. */
export async function swapsOf(
  chain: TestChain,
  {
    pool,
    priceAt,
    reader = uniswapReader(chain),
  }: { pool: DeployedPool; priceAt: PriceAt; reader?: PoolReader },
): Promise<ExpectedSwap[]> {
  const { initialTick, swaps } = await reader.moves(pool.address);
  const expected: ExpectedSwap[] = [];
  let tick = initialTick;
  for (const swap of swaps) {
    const { block, amount0, amount1 } = swap;
    const [price0, price1, header, transaction, kept] = await Promise.all([
      priceAt(pool.token0.address, block),
      priceAt(pool.token1.address, block),
      chain.header(block),
      chain.client.getTransaction({ hash: swap.transactionHash }),
      reader.kept(pool.address, { block, side: amount0 > 0n ? 0 : 1 }),
    ]);
    expected.push({
      time: header.timestamp,
      user: transaction.from,
      ...worthOf(pool, { amounts: [amount0, amount1], prices: [price0, price1], kept }),
      tickTravel: Math.abs(swap.tick - tick),
      closePrice: wholePrice(swap.sqrtPriceX96, pool),
    });
    tick = swap.tick;
  }
  return expected;
}

/** The six ranges at a head, of a pool that was created within the index. */
export function rangesOf(
  swaps: readonly ExpectedSwap[],
  { headTime, tvlUsd }: { headTime: number; tvlUsd: number | null },
): ExpectedRange[] {
  return RANGES.map(([seconds, every]) => {
    const own = swaps.filter(({ time }) => time > headTime - seconds && time <= headTime);
    const swapVolumeUsd = sumOf(own.map(({ valueUsd }) => valueUsd));
    const feesUsd = sumOf(own.map(({ feeUsd }) => feeUsd));
    const travel = own.reduce((sum, { tickTravel }) => sum + tickTravel, 0);
    const closes: number[] = [];
    // From the bucket of the range's first second on.
    for (let at = Math.floor((headTime - seconds + 1) / every) * every; at <= headTime; at += every) {
      const last = swaps.filter(({ time }) => time < at + every).at(-1);
      if (last !== undefined) closes.push(last.closePrice);
    }
    const returns = closes.slice(1).map((close, i) => Math.log(close / (closes[i] as number)));
    const known = closes.length >= 3;
    return {
      swapVolumeUsd,
      feeApr: feesUsd === null || tvlUsd === null ? null : ((feesUsd / tvlUsd) * 365 * DAY) / seconds,
      priceVolatilityPct: known ? 100 * deviationOf(returns) : null,
      meanAdjustedVolatilityPct: known ? (100 * deviationOf(closes)) / meanOf(closes) : null,
      tickPressurePer1mUsd:
        swapVolumeUsd === null || swapVolumeUsd === 0 ? null : (travel * 1e6) / swapVolumeUsd,
      swapCount: own.length,
      uniqueUserCount: new Set(own.map(({ user }) => user)).size,
    };
  });
}

function sumOf(values: readonly (number | null)[]): number | null {
  return values.includes(null) ? null : values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const deviationOf = (values: readonly number[]) =>
  Math.sqrt(values.reduce((sum, value) => sum + (value - meanOf(values)) ** 2, 0) / (values.length - 1));

function pairOf({ token0, token1 }: DeployedPool) {
  return {
    token0Address: token0.address,
    token0Symbol: token0.symbol,
    token0Decimals: token0.decimals,
    token1Address: token1.address,
    token1Symbol: token1.symbol,
    token1Decimals: token1.decimals,
  };
}

async function createdAt(chain: TestChain, block: number): Promise<string> {
  const { timestamp } = await chain.header(block);
  return `${new Date(timestamp * 1_000).toISOString().slice(0, 19)}+00:00`;
}

/** The pool list, as the factory created it. */
export async function expectedPools(chain: TestChain) {
  const first = chain.pools[0] as DeployedPool;
  const created = await createdAt(chain, await uniswapReader(chain).createdBlock(first.address));
  return chain.pools.map((pool) => ({
    chainId: 8453,
    dexAddress: chain.deployment.factory,
    dexName: "Uniswap V3",
    poolAddress: pool.address,
    ...pairOf(pool),
    createdAt: created,
    fee: pool.fee,
    tickSpacing: pool.tickSpacing,
  }));
}

/** The columns of a pool endpoint for the pool's state at a head. */
export async function expectedState(
  chain: TestChain,
  { pool, head, reader = uniswapReader(chain) }: { pool: DeployedPool; head: number; reader?: PoolReader },
) {
  const { sqrtPriceX96, tick, liquidity, fee } = await reader.at(pool.address, head);
  return {
    createdAt: await createdAt(chain, await reader.createdBlock(pool.address)),
    ...pairOf(pool),
    feeTier: fee,
    tickSpacing: pool.tickSpacing,
    currentLiquidity: `${liquidity}`,
    currentSqrtPriceX96: `${sqrtPriceX96}`,
    currentTick: tick,
    currentPoolPrice: wholePrice(sqrtPriceX96, pool),
    timeRanges: ["5 minute", "1 hour", "1 day", "1 week", "1 month", "1 year"],
  };
}
