import type { TokenSymbol } from "../market.ts";

export interface AerodromePoolSpec {
  readonly base: TokenSymbol;
  readonly quote: TokenSymbol;
  readonly stable: boolean;
  /** USD a side, of all providers together. */
  readonly depthUsd: number;
  /** Median size of one swap. */
  readonly swapUsd: number;
  /** How often traders choose it, against the others. */
  readonly weight: number;
  /** Hundredths of a percent in place of the factory's 0.30 % and 0.05 %. */
  readonly customFee?: number;
  /** Its gauge's rewards; absent = no gauge. */
  readonly rewardUsdPerWeek?: number;
}

export const AERODROME_POOLS: readonly AerodromePoolSpec[] = [
  {
    base: "WETH",
    quote: "USDC",
    stable: false,
    depthUsd: 6_000_000,
    swapUsd: 5_000,
    weight: 6,
    rewardUsdPerWeek: 60_000,
  },
  {
    base: "DAI",
    quote: "USDC",
    stable: true,
    depthUsd: 4_000_000,
    swapUsd: 9_000,
    weight: 4,
    rewardUsdPerWeek: 8_000,
  },
  {
    base: "AERO",
    quote: "USDC",
    stable: false,
    depthUsd: 2_000_000,
    swapUsd: 1_500,
    weight: 4,
    rewardUsdPerWeek: 30_000,
  },
  { base: "DEGEN", quote: "WETH", stable: false, depthUsd: 600_000, swapUsd: 500, weight: 2, customFee: 100 },
  // Two tokens without a price.
  { base: "ISLE", quote: "THIN", stable: false, depthUsd: 100_000, swapUsd: 100, weight: 1 },
];

/** How the providers, in their order, share a pool: [part of the depth, part of it that is staked where there is a gauge]. */
export const PROVIDERS: readonly (readonly [number, number])[] = [
  [0.4, 0.5],
  [0.25, 1],
  [0.15, 0],
  [0.1, 1],
  [0.07, 0.25],
  [0.03, 0],
];
