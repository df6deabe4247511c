import type { TokenSymbol } from "../market.ts";

/** Parts of a hundred. */
export interface RateSpec {
  /** Utilisation at which the second slope begins. */
  readonly optimal: number;
  readonly base: number;
  readonly slope1: number;
  readonly slope2: number;
}

export interface AaveReserveSpec {
  readonly token: TokenSymbol;
  /** Whole tokens; 0 = none. */
  readonly supplyCap: number;
  /** Whole tokens; 0 = none. */
  readonly borrowCap: number;
  readonly borrowable: boolean;
  /** Debts at a stable rate can be taken, too. */
  readonly stableRate: boolean;
  /** Percent; absent = the token cannot be collateral. */
  readonly collateral?: { readonly ltv: number; readonly threshold: number; readonly bonus: number };
  /** Percent. */
  readonly reserveFactor: number;
  readonly rates: RateSpec;
}

const DOLLAR_RATES: RateSpec = { optimal: 90, base: 0, slope1: 5.5, slope2: 60 };
const ALT_RATES: RateSpec = { optimal: 45, base: 1, slope1: 7, slope2: 300 };

export const AAVE_RESERVES: readonly AaveReserveSpec[] = [
  {
    token: "USDC",
    supplyCap: 12_000_000,
    borrowCap: 9_000_000,
    borrowable: true,
    stableRate: false,
    collateral: { ltv: 75, threshold: 78, bonus: 5 },
    reserveFactor: 10,
    rates: DOLLAR_RATES,
  },
  {
    token: "WETH",
    supplyCap: 0,
    borrowCap: 1_500,
    borrowable: true,
    stableRate: false,
    collateral: { ltv: 80, threshold: 83, bonus: 5 },
    reserveFactor: 15,
    rates: { optimal: 80, base: 0, slope1: 3.3, slope2: 80 },
  },
  {
    token: "DAI",
    supplyCap: 8_000_000,
    borrowCap: 0,
    borrowable: true,
    stableRate: true,
    collateral: { ltv: 63, threshold: 77, bonus: 5 },
    reserveFactor: 25,
    rates: DOLLAR_RATES,
  },
  {
    token: "WBTC",
    supplyCap: 200,
    borrowCap: 0,
    borrowable: false,
    stableRate: false,
    collateral: { ltv: 70, threshold: 75, bonus: 6.25 },
    reserveFactor: 20,
    rates: ALT_RATES,
  },
  {
    token: "AERO",
    supplyCap: 4_000_000,
    borrowCap: 1_000_000,
    borrowable: true,
    stableRate: false,
    reserveFactor: 20,
    rates: ALT_RATES,
  },
];

/** A user's first actions: whole tokens supplied, then borrowed. */
export interface AaveUserSpec {
  readonly supplies: Partial<Record<TokenSymbol, number>>;
  readonly borrows: Partial<Record<TokenSymbol, number>>;
  /** A part of the last kind, at the stable rate. */
  readonly stableBorrows?: Partial<Record<TokenSymbol, number>>;
}

/** In the order of accounts; those without debts are the market's suppliers. */
export const AAVE_USERS: readonly AaveUserSpec[] = [
  { supplies: { USDC: 3_000_000, DAI: 1_500_000 }, borrows: {} },
  { supplies: { WETH: 1_200, WBTC: 15 }, borrows: {} },
  { supplies: { USDC: 1_200_000, AERO: 900_000, DAI: 500_000 }, borrows: {} },
  { supplies: { WBTC: 60 }, borrows: { USDC: 1_600_000, WETH: 150 } },
  {
    supplies: { WETH: 900 },
    borrows: { DAI: 600_000, AERO: 250_000, USDC: 300_000 },
    stableBorrows: { DAI: 150_000 },
  },
  { supplies: { USDC: 1_000_000 }, borrows: { WETH: 120, DAI: 100_000 } },
];
