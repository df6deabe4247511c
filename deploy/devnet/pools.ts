import { encodeFunctionData, type Hex } from "viem";
import { poolAbi } from "./contracts/uniswap.ts";
import { type Action, deskTransaction, type Range } from "./desk.ts";
import { type PoolSpec, RANGES, type TokenSpec, type TokenSymbol } from "./market.ts";
import { type Address, type Transaction, toHex } from "./node/transactions.ts";
import { liquidityFor, pairPrice, rangeAround } from "./ticks.ts";

/** Enough for any creation, below what one transaction may have. */
export const CREATION_GAS: Hex = toHex(0xe00000);

export interface DeployedToken extends TokenSpec {
  readonly address: Address;
}

export type Tokens = Readonly<Record<TokenSymbol, DeployedToken>>;

/** A pool of Uniswap v3 or its kin. */
export interface DeployedPool {
  readonly address: Address;
  readonly token0: DeployedToken;
  readonly token1: DeployedToken;
  /** Hundredths of a bip; on Slipstream the fee it begins with. */
  readonly fee: number;
  readonly tickSpacing: number;
  /** The tick that traders pull the price back to. */
  readonly startTick: number;
  readonly spec: PoolSpec;
}

export type PoolKey = Omit<DeployedPool, "address">;

export function sortPair(
  tokens: Tokens,
  { base, quote }: { base: TokenSymbol; quote: TokenSymbol },
): [DeployedToken, DeployedToken] {
  const [a, b] = [tokens[base], tokens[quote]];
  return a.address < b.address ? [a, b] : [b, a];
}

export function planPool(
  spec: PoolSpec,
  {
    tokens,
    tickSpacing,
    addressOf,
  }: { tokens: Tokens; tickSpacing: number; addressOf: (pool: PoolKey) => Hex },
): DeployedPool {
  const [token0, token1] = sortPair(tokens, spec);
  const key: PoolKey = {
    token0,
    token1,
    fee: spec.fee,
    tickSpacing,
    startTick: pairPrice(token0, token1).tick,
    spec,
  };
  return { address: addressOf(key), ...key };
}

/** Sets a pool's price, as anybody may once. */
export function initialize({ address, token0, token1 }: DeployedPool, from: Address): Transaction {
  const { sqrtPriceX96 } = pairPrice(token0, token1);
  const data = encodeFunctionData({ abi: poolAbi, functionName: "initialize", args: [sqrtPriceX96] });
  return { from, to: address, data, gas: CREATION_GAS };
}

/** The positions that stay in a pool for ever. */
export function basePositions(pool: DeployedPool): (Range & { liquidity: bigint })[] {
  const { token0, token1, spec, tickSpacing, startTick } = pool;
  const price = pairPrice(token0, token1);
  const rawPerSide = (token: DeployedToken) => (spec.depthUsd / token.usd) * 10 ** token.decimals;
  return RANGES.map(([halfWidth, share]) => {
    const range = rangeAround(startTick, halfWidth, tickSpacing);
    const amounts: [number, number] = [rawPerSide(token0) * share, rawPerSide(token1) * share];
    return { ...range, liquidity: liquidityFor(price.raw, range, amounts) };
  });
}

export function firstLiquidity(
  pools: readonly DeployedPool[],
  { desk, from }: { desk: Address; from: Address },
): Transaction[] {
  return pools.map((pool) => {
    const mints = basePositions(pool).map(
      (position): Action => ({ kind: "mint", pool: pool.address, ...position }),
    );
    return deskTransaction(desk, from, mints);
  });
}
