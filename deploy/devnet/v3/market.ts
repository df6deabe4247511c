import type { PoolSpec } from "../market.ts";

/** A second factory with the genuine Uniswap v3 contracts. */
export const SUSHI_POOLS: readonly PoolSpec[] = [
  { base: "WETH", quote: "USDC", fee: 500, depthUsd: 2_000_000, swapUsd: 2_500, weight: 3 },
  { base: "AERO", quote: "WETH", fee: 3000, depthUsd: 600_000, swapUsd: 700, weight: 1 },
];

/** PancakeSwap has 2500 where Uniswap has 3000, and always keeps a third or so of the fee. */
export const PANCAKE_POOLS: readonly PoolSpec[] = [
  { base: "WETH", quote: "USDC", fee: 100, depthUsd: 3_000_000, swapUsd: 4_000, weight: 4 },
  { base: "WBTC", quote: "WETH", fee: 500, depthUsd: 2_000_000, swapUsd: 3_000, weight: 2 },
  { base: "AERO", quote: "USDC", fee: 2500, depthUsd: 700_000, swapUsd: 800, weight: 2 },
  { base: "DEGEN", quote: "WETH", fee: 10000, depthUsd: 400_000, swapUsd: 300, weight: 1 },
];

export interface SlipstreamPoolSpec extends PoolSpec {
  readonly tickSpacing: 1 | 50 | 100 | 200 | 2000;
  /** Part of the widest position that is staked in the pool's gauge; absent = no gauge. */
  readonly staked?: number;
}

/** Fees other than their tick spacing's come from the factory. */
export const SLIPSTREAM_POOLS: readonly SlipstreamPoolSpec[] = [
  {
    base: "WETH",
    quote: "USDC",
    tickSpacing: 100,
    fee: 387,
    depthUsd: 5_000_000,
    swapUsd: 6_000,
    weight: 5,
    staked: 0.5,
  },
  { base: "DAI", quote: "USDC", tickSpacing: 1, fee: 100, depthUsd: 4_000_000, swapUsd: 9_000, weight: 3 },
  {
    base: "AERO",
    quote: "USDC",
    tickSpacing: 200,
    fee: 3000,
    depthUsd: 2_500_000,
    swapUsd: 1_800,
    weight: 3,
    staked: 1,
  },
  { base: "AERO", quote: "WETH", tickSpacing: 2000, fee: 8_500, depthUsd: 800_000, swapUsd: 600, weight: 1 },
];
