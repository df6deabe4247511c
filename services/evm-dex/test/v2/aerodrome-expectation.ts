import { parseAbi } from "viem";
import type { AerodromePool } from "../../../../deploy/devnet/aerodrome/deploy.ts";
import { aerodromePoolAbi } from "../../../../deploy/devnet/contracts/aerodrome/abi.ts";
import type { Address } from "../../../../deploy/devnet/node/transactions.ts";
import type { TestChain } from "../../../../deploy/devnet/testkit.ts";
import { type PriceAt, pricesOf } from "../kit/pool-expectation.ts";

/** What the v2 endpoints should say, worked out from the chain by viem alone: every event, no buckets, no index of fees. */

const supplyIndexAbi = parseAbi([
  "function supplyIndex0(address) view returns (uint256)",
  "function supplyIndex1(address) view returns (uint256)",
]);

export interface ChainSwap {
  readonly time: number;
  readonly txHash: string;
  readonly zeroForOne: boolean;
  readonly amount0: bigint;
  readonly amount1: bigint;
  readonly fees0: bigint;
  readonly fees1: bigint;
  readonly valueUsd: number | null;
  readonly feeUsd: number | null;
}

/**
 * AERO by its only pool, with USDC; DEGEN by its only one, with WETH; tokens without a pool with either have no
 * price.
 */
export function aerodromePrices(chain: TestChain): PriceAt {
  const { AERO, DEGEN, WETH } = chain.deployment.tokens;
  const basic = pricesOf(chain);
  const poolWith = (token: string) =>
    chain.aerodrome.pools.find((pool) =>
      [pool.token0.address, pool.token1.address].includes(token as Address),
    );
  const known = new Map<string, Promise<number | null>>();
  const over = async (token: string, block: number) => {
    const pool = poolWith(token) as AerodromePool;
    const [reserve0, reserve1] = await chain.aerodrome.reserves(pool.address, block);
    const amounts = [whole(reserve0, pool.token0.decimals), whole(reserve1, pool.token1.decimals)] as const;
    const isFirst = pool.token0.address === token;
    const other = isFirst ? pool.token1.address : pool.token0.address;
    const ratio = isFirst ? amounts[1] / amounts[0] : amounts[0] / amounts[1];
    const price = other === WETH.address ? await basic(other, block) : 1;
    return price === null ? null : ratio * price;
  };
  return (token, block) => {
    const key = `${token}:${block}`;
    const found =
      known.get(key) ??
      (token === AERO.address || token === DEGEN.address ? over(token, block) : basic(token, block));
    known.set(key, found);
    return found;
  };
}

export function whole(raw: bigint, decimals: number): number {
  return Number(raw) / 10 ** decimals;
}

function usdOf(
  pool: AerodromePool,
  { prices, amounts }: { amounts: readonly [bigint, bigint]; prices: readonly (number | null)[] },
): number | null {
  const [price0, price1] = prices;
  if (price0 == null || price1 == null) return null;
  return whole(amounts[0], pool.token0.decimals) * price0 + whole(amounts[1], pool.token1.decimals) * price1;
}

/** All swaps of a pool, at the prices at their blocks' ends; the Fees events before a swap have its fees. */
export async function chainSwaps(
  chain: TestChain,
  { pool, priceAt }: { pool: AerodromePool; priceAt: PriceAt },
): Promise<ChainSwap[]> {
  const events = (await chain.aerodrome.events()).filter(({ address }) => address === pool.address);
  const swaps: ChainSwap[] = [];
  let fees: [bigint, bigint] = [0n, 0n];
  for (const event of events) {
    if (event.eventName === "Fees") fees = [fees[0] + event.args.amount0, fees[1] + event.args.amount1];
    if (event.eventName !== "Swap") continue;
    const { amount0In, amount1In, amount0Out, amount1Out } = event.args;
    const [amount0, amount1] = [amount0In - amount0Out, amount1In - amount1Out];
    const block = Number(event.blockNumber);
    const prices = [await priceAt(pool.token0.address, block), await priceAt(pool.token1.address, block)];
    const both = usdOf(pool, { amounts: [abs(amount0), abs(amount1)], prices });
    swaps.push({
      time: (await chain.header(block)).timestamp,
      txHash: event.transactionHash,
      zeroForOne: amount0 > 0n,
      ...{ amount0, amount1, fees0: fees[0], fees1: fees[1] },
      valueUsd: both === null ? null : both / 2,
      feeUsd: usdOf(pool, { amounts: fees, prices }),
    });
    fees = [0n, 0n];
  }
  return swaps;
}

interface ChainSum {
  readonly count: number;
  readonly volumeUsd: number | null;
  readonly feesUsd: number | null;
  readonly volume0: bigint;
  readonly volume1: bigint;
  readonly fees0: bigint;
  readonly fees1: bigint;
}

export function chainSum(swaps: readonly ChainSwap[], start: number, end: number): ChainSum {
  const own = swaps.filter(({ time }) => time >= start && time < end);
  const usd = (values: readonly (number | null)[]) =>
    values.includes(null) ? null : values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const raw = (values: readonly bigint[]) => values.reduce((sum, value) => sum + abs(value), 0n);
  return {
    count: own.length,
    volumeUsd: usd(own.map(({ valueUsd }) => valueUsd)),
    feesUsd: usd(own.map(({ feeUsd }) => feeUsd)),
    volume0: raw(own.map(({ amount0 }) => amount0)),
    volume1: raw(own.map(({ amount1 }) => amount1)),
    fees0: raw(own.map(({ fees0 }) => fees0)),
    fees1: raw(own.map(({ fees1 }) => fees1)),
  };
}

/** Reserves of the chain at its prices. */
export async function chainTvl(
  chain: TestChain,
  { pool, priceAt, head }: { pool: AerodromePool; priceAt: PriceAt; head: number },
): Promise<number | null> {
  const amounts = await chain.aerodrome.reserves(pool.address, head);
  const prices = [await priceAt(pool.token0.address, head), await priceAt(pool.token1.address, head)];
  return usdOf(pool, { amounts, prices });
}

/** What the gauge's getters and those of the pool give for a year. */
export async function chainRewardApr(
  chain: TestChain,
  at: { pool: AerodromePool; priceAt: PriceAt; head: number },
): Promise<number | null> {
  const { pool, priceAt, head } = at;
  const address = await chain.aerodrome.gaugeOf(pool.address, head);
  if (address === undefined) return 0;
  const gauge = await chain.aerodrome.gauge(address, head);
  const { timestamp } = await chain.header(head);
  if (gauge.rewardRate === 0n || timestamp >= gauge.periodFinish) return 0;
  const [tvlUsd, price] = [
    await chainTvl(chain, at),
    await priceAt(chain.deployment.tokens.AERO.address, head),
  ];
  if (tvlUsd === null || price === null || gauge.totalSupply === 0n) return null;
  const supply = await chain.aerodrome.totalSupply(pool.address, head);
  const stakedUsd = (tvlUsd * Number(gauge.totalSupply)) / Number(supply);
  return (whole(gauge.rewardRate, 18) * 365 * 86_400 * price) / stakedUsd;
}

/**
 * All that an owner has earned at a block: claimed, claimable, and owed by the pool's index beyond that. A block
 * before the first: nothing.
 */
export async function chainEarned(
  chain: TestChain,
  { pool, owner, block }: { pool: AerodromePool; owner: Address; block: number },
): Promise<[bigint, bigint]> {
  if (
    block < 1 ||
    (await chain.client.getCode({ address: pool.address, blockNumber: BigInt(block) })) === undefined
  )
    return [0n, 0n];
  const events = await chain.aerodrome.events({ toBlock: block });
  let claimed: [bigint, bigint] = [0n, 0n];
  for (const event of events) {
    if (event.eventName !== "Claim" || event.address !== pool.address) continue;
    if (event.args.sender.toLowerCase() !== owner) continue;
    claimed = [claimed[0] + event.args.amount0, claimed[1] + event.args.amount1];
  }
  const read = { address: pool.address, blockNumber: BigInt(block) } as const;
  const own = { abi: aerodromePoolAbi, args: [owner] as const };
  const [balance, claimable0, claimable1, index0, index1, supply0, supply1] = await Promise.all([
    chain.client.readContract({ ...read, ...own, functionName: "balanceOf" }),
    chain.client.readContract({ ...read, ...own, functionName: "claimable0" }),
    chain.client.readContract({ ...read, ...own, functionName: "claimable1" }),
    chain.client.readContract({ ...read, abi: aerodromePoolAbi, functionName: "index0" }),
    chain.client.readContract({ ...read, abi: aerodromePoolAbi, functionName: "index1" }),
    chain.client.readContract({ ...read, abi: supplyIndexAbi, args: [owner], functionName: "supplyIndex0" }),
    chain.client.readContract({ ...read, abi: supplyIndexAbi, args: [owner], functionName: "supplyIndex1" }),
  ]);
  return [
    claimed[0] + claimable0 + (balance * (index0 - supply0)) / 10n ** 18n,
    claimed[1] + claimable1 + (balance * (index1 - supply1)) / 10n ** 18n,
  ];
}

/** The last block before a second; −1 without one. */
export async function blockBefore(chain: TestChain, time: number): Promise<number> {
  let block = await chain.headNumber();
  while (block >= 0 && (await chain.header(block)).timestamp >= time) block -= 1;
  return block;
}

function abs(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}
