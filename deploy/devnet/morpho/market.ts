import type { TokenSymbol } from "../market.ts";

/** Amounts are USD at the tokens' starting prices. */
export interface MorphoMarketSpec {
  readonly loan: TokenSymbol;
  /** Absent = an idle market, in which nothing can be borrowed. */
  readonly collateral?: TokenSymbol;
  /** Percent. */
  readonly lltvPct: number;
  /** Percent of the interest that Morpho keeps. */
  readonly feePct?: number;
  /** What suppliers put in beside the vaults. */
  readonly suppliedUsd: number;
  readonly borrowedUsd: number;
  /** What traders make of it: percent of utilization, and how far that swings within hours. */
  readonly usePct?: readonly [mean: number, swing: number];
  /** Percent a year at the target utilization, above which they repay. */
  readonly bearablePct?: number;
}

export const MORPHO_MARKETS = {
  wethUsdc: {
    loan: "USDC",
    collateral: "WETH",
    lltvPct: 86,
    feePct: 10,
    suppliedUsd: 2_000_000,
    borrowedUsd: 5_300_000,
    usePct: [88, 7],
  },
  wbtcUsdc: {
    loan: "USDC",
    collateral: "WBTC",
    lltvPct: 86,
    suppliedUsd: 1_000_000,
    borrowedUsd: 1_200_000,
    usePct: [45, 15],
  },
  /** Nearly all of it is lent. */
  aeroUsdc: {
    loan: "USDC",
    collateral: "AERO",
    lltvPct: 77,
    suppliedUsd: 300_000,
    borrowedUsd: 798_000,
    usePct: [98.5, 1.4],
    bearablePct: 40,
  },
  aeroWeth: {
    loan: "WETH",
    collateral: "AERO",
    lltvPct: 62.5,
    suppliedUsd: 500_000,
    borrowedUsd: 1_200_000,
    usePct: [70, 20],
  },
  idleUsdc: { loan: "USDC", lltvPct: 0, suppliedUsd: 50_000, borrowedUsd: 0 },
} as const satisfies Record<string, MorphoMarketSpec>;

export type MorphoMarketName = keyof typeof MORPHO_MARKETS;

/** A cap that stands for none: the most that MetaMorpho can store. */
export const NO_CAP = 2n ** 184n - 1n;

export interface MorphoVaultSpec {
  readonly name: string;
  readonly symbol: string;
  readonly asset: TokenSymbol;
  /** 1.1: a contract of our own with its getters, events and accounting. */
  readonly version: "1.0" | "1.1";
  readonly hasCurator: boolean;
  readonly feePct?: number;
  /** In the order of the withdraw queue: caps in USD, null = none. */
  readonly capsUsd: Readonly<Partial<Record<MorphoMarketName, number | null>>>;
  readonly supplyQueue: readonly MorphoMarketName[];
  readonly depositUsd: number;
  /** What the allocator moves after the deposit. */
  readonly reallocation?: {
    readonly from: MorphoMarketName;
    readonly to: MorphoMarketName;
    readonly usd: number;
  };
}

export const MORPHO_VAULTS = {
  prime: {
    name: "Prime USDC",
    symbol: "primeUSDC",
    asset: "USDC",
    version: "1.0",
    hasCurator: true,
    feePct: 10,
    capsUsd: { idleUsdc: null, wethUsdc: 4_000_000, wbtcUsdc: 2_000_000, aeroUsdc: 1_000_000 },
    supplyQueue: ["wethUsdc", "wbtcUsdc", "idleUsdc"],
    depositUsd: 6_500_000,
    reallocation: { from: "idleUsdc", to: "aeroUsdc", usd: 100_000 },
  },
  ether: {
    name: "Plain Ether",
    symbol: "plainWETH",
    asset: "WETH",
    version: "1.0",
    hasCurator: false,
    capsUsd: { aeroWeth: 3_000_000 },
    supplyQueue: ["aeroWeth"],
    depositUsd: 1_500_000,
  },
  empty: {
    name: "Empty USDC",
    symbol: "emptyUSDC",
    asset: "USDC",
    version: "1.0",
    hasCurator: true,
    feePct: 5,
    capsUsd: { wbtcUsdc: 500_000 },
    supplyQueue: ["wbtcUsdc"],
    depositUsd: 0,
  },
  keeper: {
    name: "Keeper USDC",
    symbol: "keepUSDC",
    asset: "USDC",
    version: "1.1",
    hasCurator: true,
    feePct: 15,
    capsUsd: { aeroUsdc: 400_000, wbtcUsdc: 600_000 },
    supplyQueue: ["aeroUsdc", "wbtcUsdc"],
    depositUsd: 700_000,
  },
} as const satisfies Record<string, MorphoVaultSpec>;

export type MorphoVaultName = keyof typeof MORPHO_VAULTS;

/** Who does what, in the order of accounts. */
export const MORPHO_USERS = ["curator", "allocator", "supplier", "borrower"] as const;
