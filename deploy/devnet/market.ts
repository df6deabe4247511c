/** What the devnet trades. Prices are starting points and what the traders pull the pools back to. */
export interface TokenSpec {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  /** For sizing liquidity and trades; no service reads it. */
  readonly usd: number;
  /** `wrapped` is the ether token, `old` has bytes32 name and symbol. */
  readonly form?: "wrapped" | "old";
}

export const TOKENS = {
  WETH: { symbol: "WETH", name: "Wrapped Ether", decimals: 18, usd: 3000, form: "wrapped" },
  USDC: { symbol: "USDC", name: "USD Coin", decimals: 6, usd: 1 },
  DAI: { symbol: "DAI", name: "Dai Stablecoin", decimals: 18, usd: 1 },
  WBTC: { symbol: "WBTC", name: "Wrapped BTC", decimals: 8, usd: 96_000 },
  AERO: { symbol: "AERO", name: "Aerodrome", decimals: 18, usd: 1.1 },
  DEGEN: { symbol: "DEGEN", name: "Degen", decimals: 18, usd: 0.004 },
  // Only a thin pool: below the depth that a USD price needs.
  THIN: { symbol: "THIN", name: "Thinly Traded", decimals: 18, usd: 0.5 },
  // A pool, but no path to a stablecoin.
  ISLE: { symbol: "ISLE", name: "Island", decimals: 18, usd: 2 },
  REEF: { symbol: "REEF", name: "Reef", decimals: 18, usd: 0.25, form: "old" },
} as const satisfies Record<string, TokenSpec>;

export type TokenSymbol = keyof typeof TOKENS;

export interface PoolSpec {
  readonly base: TokenSymbol;
  readonly quote: TokenSymbol;
  /** Hundredths of a bip. */
  readonly fee: number;
  /** USD a side, over all positions. */
  readonly depthUsd: number;
  /** Median size of one swap. */
  readonly swapUsd: number;
  /** How often traders choose it, against the others. */
  readonly weight: number;
  /** The protocol keeps 1/n of the fee; absent = nothing, as on most pools. */
  readonly protocolFee?: 4 | 5 | 6 | 7 | 8 | 9 | 10;
}

/** Main pools first: a chain of n pools takes the first n. */
export const POOLS: readonly PoolSpec[] = [
  { base: "WETH", quote: "USDC", fee: 500, depthUsd: 12_000_000, swapUsd: 9_000, weight: 10 },
  { base: "WETH", quote: "USDC", fee: 3000, depthUsd: 6_000_000, swapUsd: 5_000, weight: 6, protocolFee: 4 },
  { base: "WBTC", quote: "USDC", fee: 3000, depthUsd: 5_000_000, swapUsd: 8_000, weight: 5 },
  { base: "WBTC", quote: "WETH", fee: 500, depthUsd: 4_000_000, swapUsd: 6_000, weight: 4 },
  { base: "DAI", quote: "USDC", fee: 100, depthUsd: 8_000_000, swapUsd: 12_000, weight: 4 },
  { base: "AERO", quote: "USDC", fee: 3000, depthUsd: 1_500_000, swapUsd: 1_500, weight: 4 },
  { base: "DEGEN", quote: "WETH", fee: 10000, depthUsd: 1_200_000, swapUsd: 700, weight: 4 },
  { base: "AERO", quote: "WETH", fee: 3000, depthUsd: 1_000_000, swapUsd: 1_200, weight: 3 },
  { base: "THIN", quote: "USDC", fee: 10000, depthUsd: 3_000, swapUsd: 12, weight: 1 },
  { base: "ISLE", quote: "REEF", fee: 3000, depthUsd: 400_000, swapUsd: 300, weight: 1 },
];

/** Liquidity of a pool, split over ranges around the starting price: [half width in ticks, share of the depth]. */
export const RANGES: readonly (readonly [number, number])[] = [
  [2_000, 0.4],
  [6_000, 0.35],
  [20_000, 0.25],
];
