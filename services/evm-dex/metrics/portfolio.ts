import type { Mutable } from "../../shared/mutable.ts";
import { toWholeTokens } from "./pool-price.ts";
import { sortInSteps } from "./sort-in-steps.ts";
import { pairUsd } from "./v2-usd.ts";

/** A token as a portfolio sees it. */
export interface PortfolioToken {
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
  /** What the holding's pool is valued with: the same token may differ by pool (shared/pricing/value-prices.ts). */
  readonly priceUsd: number | null;
}

/** Raw units of token0 and token1. */
export interface Earned {
  readonly earned0: bigint;
  readonly earned1: bigint;
}

/** One wallet's LP tokens of one pool, emptied positions too, with all that determines their value. */
export interface Holding {
  readonly poolAddress: string;
  readonly token0: PortfolioToken;
  readonly token1: PortfolioToken;
  /** LP tokens in the wallet and in the pool's gauge, and all there are; 0 while the pool's state is not known. */
  readonly balance: bigint;
  readonly staked: bigint;
  readonly totalSupply: bigint;
  readonly reserve0: bigint;
  readonly reserve1: bigint;
  /** By window: the swap fees earned in it; null where it begins before the index. */
  readonly earned: readonly (Earned | null)[];
  /** By window: the pool's swap-fee APR, which `balance` earns. */
  readonly swapFeeAprs: readonly (number | null)[];
  /** The gauge's APR, which `staked` earns. */
  readonly rewardApr: number | null;
}

interface PoolExposure {
  readonly poolAddress: string;
  readonly token0Symbol: string;
  readonly token1Symbol: string;
  readonly valueUsd: number | null;
  /** Of the portfolio's value; null where one of the two is unknown, or the whole is worth nothing. */
  readonly share: number | null;
}

interface TokenExposure {
  readonly address: string;
  readonly symbol: string;
  /** Whole tokens. */
  readonly amount: number;
  readonly valueUsd: number | null;
  readonly share: number | null;
}

interface Portfolio {
  /** Null, as are fees, APRs and concentration, as soon as one position cannot be fully priced or may be missing. */
  readonly valueUsd: number | null;
  readonly positionCount: number;
  readonly poolCount: number;
  /** By window. */
  readonly feesUsd: readonly (number | null)[];
  readonly aprs: readonly (number | null)[];
  /** By value, unpriced ones last. */
  readonly pools: readonly PoolExposure[];
  readonly tokens: readonly TokenExposure[];
  /** Herfindahl index: the sum of the pools' squared shares. */
  readonly concentration: number | null;
}

interface PortfolioOptions {
  /** Number of windows in the holdings. */
  readonly windows: number;
  /** Whether the holdings are all there are. If not, what is null while a position has no price is null too. */
  readonly isComplete: boolean;
}

export function portfolioOf(holdings: readonly Holding[], options: PortfolioOptions): Portfolio {
  const steps = portfolioInSteps(holdings, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Holdings between two yields: some tenths of a millisecond. */
const HOLDINGS_A_STEP = 100;

/**
 * The same in steps that last less than a millisecond each. Of each holding only its pool's exposure is kept: the
 * collector would copy five thousand holdings, and all other requests would wait for it.
 */
export function* portfolioInSteps(
  holdings: Iterable<Holding>,
  { windows, isComplete }: PortfolioOptions,
): Generator<undefined, Portfolio> {
  const fees = Array.from({ length: windows }, () => new Sum());
  const incomes = Array.from({ length: windows }, () => new Sum());
  const value = new Sum();
  const exposures: Exposure[] = [];
  const amounts = new Map<string, TokenAmount>();
  let positionCount = 0;
  let count = 0;
  for (const holding of holdings) {
    if (++count % HOLDINGS_A_STEP === 0) yield;
    for (let i = 0; i < windows; i++) fees[i]?.add(feesUsdOf(holding, i));
    if (holding.balance + holding.staked === 0n) continue;
    const valued = valueHolding(holding);
    value.add(valued.valueUsd);
    for (let i = 0; i < windows; i++)
      incomes[i]?.add(incomeOf(holding, { valueUsd: valued.valueUsd, window: i }));
    positionCount += isAny(holding.balance) + isAny(holding.staked);
    exposures.push(poolExposure(holding, valued.valueUsd));
    if (!isUnread(holding)) addAmounts(amounts, holding, valued);
  }
  const valueUsd = isComplete ? value.total : null;
  yield;
  const concentration = concentrationOf(exposures, valueUsd);
  for (const exposure of exposures) exposure.share = shareOf(exposure.valueUsd, valueUsd);
  yield;
  const pools = yield* sortInSteps(exposures, byValue("poolAddress"));
  const tokens = yield* sortInSteps(tokenExposures(amounts, valueUsd), byValue("address"));
  yield;
  return {
    valueUsd,
    positionCount,
    poolCount: exposures.length,
    feesUsd: fees.map(({ total }) => (valueUsd === null ? null : total)),
    aprs: incomes.map(({ total }) =>
      total === null || valueUsd === null || valueUsd <= 0 ? null : total / valueUsd,
    ),
    pools,
    tokens,
    concentration,
  };
}

/** A sum of terms; null as soon as one of them is. */
class Sum {
  #sum = 0;
  #isKnown = true;

  add(term: number | null): void {
    if (term === null) this.#isKnown = false;
    else this.#sum += term;
  }

  get total(): number | null {
    return this.#isKnown && Number.isFinite(this.#sum) ? this.#sum : null;
  }
}

/** What the LP tokens of a holding are worth. */
interface ValuedHolding {
  /** Raw units. */
  readonly amount0: bigint;
  readonly amount1: bigint;
  readonly valueUsd: number | null;
}

/** LP tokens / all LP tokens × reserve, rounded down as when they are burnt. Source: Aerodrome Pool.burn. */
function valueHolding(holding: Holding): ValuedHolding {
  const { balance, staked, totalSupply } = holding;
  const shareOf = (reserve: bigint) =>
    totalSupply === 0n ? 0n : ((balance + staked) * reserve) / totalSupply;
  const amount0 = shareOf(holding.reserve0);
  const amount1 = shareOf(holding.reserve1);
  const valueUsd = isUnread(holding) ? null : usdOf(holding, amount0, amount1);
  return { amount0, amount1, valueUsd };
}

/** LP tokens of a pool that has none: its state is not known yet. */
function isUnread({ totalSupply }: Holding): boolean {
  return totalSupply === 0n;
}

function usdOf({ token0, token1 }: Holding, amount0: bigint, amount1: bigint): number | null {
  return pairUsd({
    amount0: toWholeTokens(amount0, token0.decimals),
    amount1: toWholeTokens(amount1, token1.decimals),
    price0Usd: token0.priceUsd,
    price1Usd: token1.priceUsd,
  });
}

/** Swap fees earned in a window, in USD at the prices of the head. */
function feesUsdOf(holding: Holding, window: number): number | null {
  const earned = holding.earned[window] ?? null;
  if (earned === null) return null;
  const { earned0, earned1 } = earned;
  return earned0 === 0n && earned1 === 0n ? 0 : usdOf(holding, earned0, earned1);
}

/** What a holding earns at the APRs of a window: LP tokens held the pool's swap fees, LP tokens staked the gauge's rewards. */
function incomeOf(
  { balance, staked, rewardApr, swapFeeAprs }: Holding,
  { valueUsd, window }: { valueUsd: number | null; window: number },
): number | null {
  const all = Number(balance + staked);
  const heldUsd = ((valueUsd ?? 0) * Number(balance)) / all;
  const stakedUsd = ((valueUsd ?? 0) * Number(staked)) / all;
  const fromFees = balance === 0n ? 0 : times(heldUsd, swapFeeAprs[window] ?? null);
  const fromRewards = staked === 0n ? 0 : times(stakedUsd, rewardApr);
  return fromFees === null || fromRewards === null ? null : fromFees + fromRewards;
}

/** Its share follows once the whole is known. */
type Exposure = Mutable<PoolExposure>;

function poolExposure({ poolAddress, token0, token1 }: Holding, valueUsd: number | null): Exposure {
  return { poolAddress, token0Symbol: token0.symbol, token1Symbol: token1.symbol, valueUsd, share: null };
}

/** What a portfolio holds of one token. */
interface TokenAmount {
  readonly token: PortfolioToken;
  /** Raw units. */
  amount: bigint;
  readonly valueUsd: Sum;
}

function addAmounts(
  amounts: Map<string, TokenAmount>,
  { token0, token1 }: Holding,
  { amount0, amount1 }: ValuedHolding,
): void {
  addAmount(amounts, token0, amount0);
  addAmount(amounts, token1, amount1);
}

function addAmount(amounts: Map<string, TokenAmount>, token: PortfolioToken, amount: bigint): void {
  let known = amounts.get(token.address);
  if (known === undefined) {
    known = { token, amount: 0n, valueUsd: new Sum() };
    amounts.set(token.address, known);
  }
  known.amount += amount;
  known.valueUsd.add(times(toWholeTokens(amount, token.decimals), token.priceUsd));
}

function tokenExposures(amounts: ReadonlyMap<string, TokenAmount>, total: number | null): TokenExposure[] {
  return Array.from(amounts.values(), ({ token, amount, valueUsd: { total: valueUsd } }) => {
    const { address, symbol, decimals } = token;
    return {
      address,
      symbol,
      amount: toWholeTokens(amount, decimals),
      valueUsd,
      share: shareOf(valueUsd, total),
    };
  });
}

function concentrationOf(exposures: readonly PoolExposure[], total: number | null): number | null {
  if (exposures.length === 0) return null;
  const squares = new Sum();
  for (const { valueUsd } of exposures) {
    const share = shareOf(valueUsd, total);
    squares.add(share === null ? null : share * share);
  }
  return squares.total;
}

function shareOf(valueUsd: number | null, total: number | null): number | null {
  return valueUsd === null || total === null || total <= 0 ? null : valueUsd / total;
}

function times(a: number, b: number | null): number | null {
  const product = b === null ? Number.NaN : a * b;
  return Number.isFinite(product) ? product : null;
}

function isAny(amount: bigint): number {
  return amount > 0n ? 1 : 0;
}

/** The most valuable first, unpriced ones last, by address among equals. */
function byValue<K extends string>(address: K) {
  return <T extends { readonly valueUsd: number | null } & Readonly<Record<K, string>>>(a: T, b: T) => {
    if (a.valueUsd === b.valueUsd) return a[address] < b[address] ? -1 : 1;
    if (a.valueUsd === null) return 1;
    if (b.valueUsd === null) return -1;
    return b.valueUsd - a.valueUsd;
  };
}
