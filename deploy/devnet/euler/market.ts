import type { TokenSymbol } from "../market.ts";

/** By the symbol that the vault gets: vaults of one asset are numbered in the order of their creation. */
export type EulerVaultName =
  | "eUSDC-1"
  | "eWETH-1"
  | "eWBTC-1"
  | "eAERO-1"
  | "eUSDC-2"
  | "eWETH-2"
  | "eDEGEN-1";

export interface EulerCollateral {
  readonly vault: EulerVaultName;
  /** Ten-thousandths. */
  readonly borrowLtv: number;
  readonly liquidationLtv: number;
}

export interface EulerVaultSpec {
  readonly name: EulerVaultName;
  readonly asset: TokenSymbol;
  /** What the vault's oracle counts in; absent = an escrow, which has no oracle and lends nothing. */
  readonly unit?: "USD" | TokenSymbol;
  /** True where the oracle has no price of the asset, and every question fails. */
  readonly unpriced?: boolean;
  readonly rates?: keyof typeof RATES;
  /** Ten-thousandths of the interest; absent = the 10 % a vault begins with. */
  readonly interestFee?: number;
  /** Whole tokens; absent = none. */
  readonly supplyCap?: number;
  readonly borrowCap?: number;
  readonly collaterals: readonly EulerCollateral[];
  /** What the suppliers put in together. */
  readonly supplyUsd: number;
  /** The vault's one borrower, by place in BORROWERS' accounts, and what it owes at first. */
  readonly loan?: { readonly borrower: number; readonly usd: number };
}

/** Interest a year at no, at the kink's and at full utilisation. */
export const RATES = {
  dollars: { base: 0, kink: 0.06, full: 0.8, kinkAt: 0.9 },
  ether: { base: 0.005, kink: 0.027, full: 0.6, kinkAt: 0.85 },
  risky: { base: 0.02, kink: 0.15, full: 2, kinkAt: 0.75 },
} as const satisfies Record<string, { base: number; kink: number; full: number; kinkAt: number }>;

export const EULER_VAULTS: readonly EulerVaultSpec[] = [
  {
    name: "eUSDC-1",
    asset: "USDC",
    unit: "USD",
    rates: "dollars",
    supplyCap: 50_000_000,
    borrowCap: 40_000_000,
    collaterals: [
      { vault: "eWETH-1", borrowLtv: 8_000, liquidationLtv: 8_500 },
      { vault: "eWBTC-1", borrowLtv: 7_800, liquidationLtv: 8_300 },
    ],
    supplyUsd: 1_000_000,
    loan: { borrower: 0, usd: 2_600_000 },
  },
  {
    name: "eWETH-1",
    asset: "WETH",
    unit: "USD",
    rates: "ether",
    interestFee: 1_500,
    supplyCap: 20_000,
    collaterals: [{ vault: "eUSDC-1", borrowLtv: 8_200, liquidationLtv: 8_700 }],
    supplyUsd: 1_000_000,
    loan: { borrower: 1, usd: 1_900_000 },
  },
  {
    name: "eWBTC-1",
    asset: "WBTC",
    unit: "WETH",
    rates: "ether",
    borrowCap: 12.5,
    collaterals: [{ vault: "eUSDC-1", borrowLtv: 7_500, liquidationLtv: 8_000 }],
    supplyUsd: 500_000,
    loan: { borrower: 2, usd: 700_000 },
  },
  { name: "eAERO-1", asset: "AERO", collaterals: [], supplyUsd: 300_000 },
  {
    name: "eUSDC-2",
    asset: "USDC",
    unit: "USD",
    rates: "risky",
    interestFee: 2_000,
    supplyCap: 6_000_000,
    borrowCap: 5_000_000,
    collaterals: [
      { vault: "eAERO-1", borrowLtv: 5_000, liquidationLtv: 6_000 },
      { vault: "eWBTC-1", borrowLtv: 7_000, liquidationLtv: 7_500 },
    ],
    supplyUsd: 1_000_000,
    loan: { borrower: 3, usd: 600_000 },
  },
  {
    name: "eWETH-2",
    asset: "WETH",
    unit: "USD",
    rates: "risky",
    collaterals: [{ vault: "eUSDC-2", borrowLtv: 7_000, liquidationLtv: 7_700 }],
    supplyUsd: 900_000,
    loan: { borrower: 4, usd: 300_000 },
  },
  {
    name: "eDEGEN-1",
    asset: "DEGEN",
    unit: "USD",
    unpriced: true,
    rates: "risky",
    collaterals: [],
    supplyUsd: 50_000,
  },
];

export interface EulerStrategySpec {
  readonly vault: EulerVaultName;
  /** Whole tokens; absent = as many as there can be. */
  readonly cap?: number;
  /** Of the first deposits. */
  readonly usd: number;
}

export interface EulerEarnSpec {
  readonly symbol: string;
  readonly name: string;
  readonly asset: TokenSymbol;
  /** False = the owner curates. */
  readonly curated: boolean;
  /** Hundredths of the yield. */
  readonly feePercent: number;
  /** In the order of the queues: what comes goes to the first that has room. */
  readonly strategies: readonly EulerStrategySpec[];
}

export const EULER_EARN: readonly EulerEarnSpec[] = [
  {
    symbol: "pUSDC",
    name: "Prime USDC",
    asset: "USDC",
    curated: true,
    feePercent: 10,
    strategies: [
      { vault: "eUSDC-1", cap: 3_000_000, usd: 900_000 },
      { vault: "eUSDC-2", cap: 1_200_000, usd: 500_000 },
    ],
  },
  {
    symbol: "sWETH",
    name: "Steady Ether",
    asset: "WETH",
    curated: false,
    feePercent: 5,
    strategies: [
      { vault: "eWETH-2", cap: 250, usd: 450_000 },
      { vault: "eWETH-1", usd: 600_000 },
    ],
  },
];

/** Accounts, by index: the first supplies everywhere and curates, each of the others borrows from one vault. */
export const EULER_SUPPLIER = 14;
export const EULER_BORROWERS = [15, 16, 17, 18, 19] as const;
/** How many times a loan a borrower's collateral is worth. */
export const COLLATERAL_COVER = 2.2;
