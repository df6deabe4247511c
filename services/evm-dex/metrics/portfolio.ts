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

/** The same in steps that last less than a millisecond each. */
export function* portfolioInSteps(
  holdings: Iterable<Holding>,
  { windows, isComplete }: PortfolioOptions,
): Generator<undefined, Portfolio> {
  const active: ValuedHolding[] = [];
  const fees: (number | null)[][] = Array.from({ length: windows }, () => []);
  let count = 0;
  for (const holding of holdings) {
    if (++count % HOLDINGS_A_STEP === 0) yield;
    for (const [i, terms] of fees.entries()) terms.push(feesUsdOf(holding, i));
    if (holding.balance + holding.staked > 0n) active.push(valueHolding(holding));
  }
  const valueUsd = isComplete ? sumOrNull(active.map((each) => each.valueUsd)) : null;
  const positionCount = active.reduce((sum, { balance, staked }) => sum + isAny(balance) + isAny(staked), 0);
  const aprs: (number | null)[] = [];
  for (let i = 0; i < windows; i++) {
    yield;
    aprs.push(weightedApr(active, { valueUsd, window: i }));
  }
  yield;
  const exposures = active.map((each) => poolExposure(each, valueUsd));
  const pools = yield* sortInSteps(exposures, byValue("poolAddress"));
  const amounts = yield* tokenAmounts(active);
  yield;
  const tokens = yield* sortInSteps(tokenExposures(amounts, valueUsd), byValue("address"));
  yield;
  return {
    valueUsd,
    positionCount,
    poolCount: active.length,
    feesUsd: fees.map((terms) => (valueUsd === null ? null : sumOrNull(terms))),
    aprs,
    pools,
    tokens,
    concentration: concentrationOf(active, valueUsd),
  };
}

/** What the LP tokens of a holding are worth. */
interface ValuedHolding {
  readonly holding: Holding;
  readonly balance: bigint;
  readonly staked: bigint;
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
  return { holding, balance, staked, amount0, amount1, valueUsd };
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

/** LP tokens held earn the pool's swap fees, LP tokens staked the gauge's rewards. */
function weightedApr(
  active: readonly ValuedHolding[],
  { valueUsd, window }: { valueUsd: number | null; window: number },
): number | null {
  if (valueUsd === null || valueUsd <= 0) return null;
  const incomes = active.map(({ holding, balance, staked, valueUsd: ownUsd }) => {
    const { rewardApr } = holding;
    const swapFeeApr = holding.swapFeeAprs[window] ?? null;
    const heldUsd = ((ownUsd ?? 0) * Number(balance)) / Number(balance + staked);
    const stakedUsd = ((ownUsd ?? 0) * Number(staked)) / Number(balance + staked);
    return sumOrNull([
      balance === 0n ? 0 : times(heldUsd, swapFeeApr),
      staked === 0n ? 0 : times(stakedUsd, rewardApr),
    ]);
  });
  const income = sumOrNull(incomes);
  return income === null ? null : income / valueUsd;
}

function poolExposure({ holding, valueUsd }: ValuedHolding, total: number | null): PoolExposure {
  return {
    poolAddress: holding.poolAddress,
    token0Symbol: holding.token0.symbol,
    token1Symbol: holding.token1.symbol,
    valueUsd,
    share: shareOf(valueUsd, total),
  };
}

type TokenAmounts = ReadonlyMap<
  string,
  { readonly token: PortfolioToken; readonly amount: bigint; readonly values: readonly (number | null)[] }
>;

/** By token, raw units. */
function* tokenAmounts(active: readonly ValuedHolding[]): Generator<undefined, TokenAmounts> {
  const raw = new Map<string, { token: PortfolioToken; amount: bigint; values: (number | null)[] }>();
  const add = (token: PortfolioToken, amount: bigint): void => {
    const known = raw.get(token.address);
    const valueUsd = times(toWholeTokens(amount, token.decimals), token.priceUsd);
    if (known === undefined) raw.set(token.address, { token, amount, values: [valueUsd] });
    else {
      known.amount += amount;
      known.values.push(valueUsd);
    }
  };
  let count = 0;
  for (const { holding, amount0, amount1 } of active) {
    if (++count % HOLDINGS_A_STEP === 0) yield;
    if (isUnread(holding)) continue;
    add(holding.token0, amount0);
    add(holding.token1, amount1);
  }
  return raw;
}

function tokenExposures(amounts: TokenAmounts, total: number | null): TokenExposure[] {
  return Array.from(amounts.values(), ({ token, amount, values }) => {
    const whole = toWholeTokens(amount, token.decimals);
    const valueUsd = sumOrNull(values);
    const { address, symbol } = token;
    return { address, symbol, amount: whole, valueUsd, share: shareOf(valueUsd, total) };
  });
}

function concentrationOf(active: readonly ValuedHolding[], total: number | null): number | null {
  if (active.length === 0) return null;
  const shares = active.map(({ valueUsd }) => shareOf(valueUsd, total));
  return sumOrNull(shares.map((share) => (share === null ? null : share * share)));
}

function shareOf(valueUsd: number | null, total: number | null): number | null {
  return valueUsd === null || total === null || total <= 0 ? null : valueUsd / total;
}

function times(a: number, b: number | null): number | null {
  const product = b === null ? Number.NaN : a * b;
  return Number.isFinite(product) ? product : null;
}

function sumOrNull(terms: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const term of terms) {
    if (term === null) return null;
    sum += term;
  }
  return Number.isFinite(sum) ? sum : null;
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
