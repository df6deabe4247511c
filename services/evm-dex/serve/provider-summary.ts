import { formatDateTime } from "../../shared/contract/cells.ts";
import type { Store } from "../../shared/storage/port.ts";
import { DAY, startOf } from "../metrics/bucket.ts";
import { EMPTY_POSITION, type LpPosition, positionText, settle } from "../metrics/lp-position.ts";
import { isCovered } from "../metrics/pool-windows.ts";
import { type Earned, type Holding, type PortfolioToken, portfolioOf } from "../metrics/portfolio.ts";
import { swapFeeApr } from "../metrics/v2-apr.ts";
import { feesUsdOf, type V2Bucket } from "../metrics/v2-bucket.ts";
import { completedDays, v2NumbersOf } from "../metrics/v2-window.ts";
import type { Window } from "../metrics/window.ts";
import { holdingsOf, readV2State, type V2State } from "../protocols/aerodrome-v2/state.ts";
import { aerodromeV2 } from "../protocols/aerodrome-v2.ts";
import type { CheckpointRow, PoolRow } from "../store/collections.ts";
import { getPoolStates, getPools } from "../store/queries.ts";
import type { LpPositionRow } from "../store/v2-collections.ts";
import { findPositions, findV2Rollups, lastLpEventBefore } from "../store/v2-queries.ts";
import {
  coverageOf,
  type RewardTokens,
  readTokenFacts,
  type TokenFacts,
  toV2Bucket,
  valueV2Pool,
} from "../views/v2-facts.ts";

/** The windows of fees and APRs, in completed UTC days. */
const WINDOW_DAYS = [7, 30] as const;
const LONGEST = 30;
const TOP_POOLS = 10;

/** The summary of one liquidity provider, at a checkpoint. */
export async function readProviderSummary(
  store: Store,
  query: { wallet: string; checkpoint: CheckpointRow; rewards: RewardTokens },
) {
  const { wallet, checkpoint } = query;
  const { chainId } = checkpoint;
  const positions = await findPositions(store, { chainId, wallet });
  const windows = WINDOW_DAYS.map((days) => completedDays(checkpoint.blockTime, days));
  const holdings = await readHoldings(store, { ...query, positions, windows });
  const portfolio = portfolioOf(holdings, WINDOW_DAYS.length);
  return {
    providerId: wallet,
    totalValueLockedUsd: portfolio.valueUsd,
    activePositionCount: portfolio.positionCount,
    poolCount: portfolio.poolCount,
    totalFeesEarned7d: portfolio.feesUsd[0] ?? null,
    totalFeesEarned30d: portfolio.feesUsd[1] ?? null,
    averageApr7dWeighted: portfolio.aprs[0] ?? null,
    averageApr30dWeighted: portfolio.aprs[1] ?? null,
    firstPositionTimestamp: timeOf(positions, (times) => Math.min(...times.map((row) => row.firstTime))),
    lastActiveTimestamp: timeOf(positions, (times) => Math.max(...times.map((row) => row.lastTime))),
    topPoolsData: portfolio.pools
      .slice(0, TOP_POOLS)
      .map((pool) => [pool.poolAddress, pool.token0Symbol, pool.token1Symbol, pool.valueUsd, pool.share]),
    tokenExposure: portfolio.tokens.map((token) => [
      token.address,
      token.symbol,
      token.amount,
      token.valueUsd,
      token.share,
    ]),
    concentrationIndex: portfolio.concentration,
    updatedAt: formatDateTime(checkpoint.blockTime),
  };
}

function timeOf(
  positions: readonly LpPositionRow[],
  choose: (positions: readonly LpPositionRow[]) => number,
): string | null {
  return positions.length === 0 ? null : formatDateTime(choose(positions));
}

interface ReadOptions {
  readonly checkpoint: CheckpointRow;
  readonly rewards: RewardTokens;
  readonly positions: readonly LpPositionRow[];
  readonly windows: readonly Window[];
}

async function readHoldings(store: Store, query: ReadOptions): Promise<Holding[]> {
  const { checkpoint, rewards } = query;
  const { chainId, blockTime } = checkpoint;
  const since = completedDays(blockTime, LONGEST).start;
  const positions = query.positions.filter((row) => isOfInterest(row, since));
  if (positions.length === 0) return [];
  const addresses = positions.map((row) => row.poolAddress);
  const [poolRows, stateRows, bucketRows] = await Promise.all([
    getPools(store, { chainId, addresses }),
    getPoolStates(store, { chainId, addresses }),
    findV2Rollups(store, {
      ...{ chainId, pools: addresses, span: DAY },
      ...{ start: since, end: startOf(blockTime, DAY) + DAY },
    }),
  ]);
  const pools = new Map(poolRows.map((pool) => [pool.poolAddress, pool]));
  const states = new Map(stateRows.map((row) => [row.poolAddress, readV2State(row.state)]));
  const buckets = new Map<string, (V2Bucket & { start: number })[]>(addresses.map((pool) => [pool, []]));
  for (const row of bucketRows) buckets.get(row.poolAddress)?.push(toV2Bucket(row));
  const tokens = await readTokenFacts(store, {
    checkpoint,
    addresses: [
      ...new Set(poolRows.flatMap((pool) => [pool.token0Address, pool.token1Address])),
      ...rewards.all(chainId),
    ],
  });
  return Promise.all(
    positions.flatMap((row) => {
      const pool = pools.get(row.poolAddress);
      if (pool === undefined) return [];
      return [
        readHolding(store, {
          ...{ row, pool, tokens, checkpoint, windows: query.windows },
          state: states.get(row.poolAddress) ?? aerodromeV2.initialState(pool),
          rewardToken: rewards.tokenOf(pool),
          days: buckets.get(row.poolAddress) ?? [],
        }),
      ];
    }),
  );
}

/** A position that was empty before the longest window began has neither value nor fees. */
function isOfInterest(row: LpPositionRow, since: number): boolean {
  const { balance, staked } = positionText.read(row.position);
  return balance > 0n || staked > 0n || row.lastTime >= since;
}

async function readHolding(
  store: Store,
  query: {
    row: LpPositionRow;
    pool: PoolRow;
    state: V2State;
    tokens: TokenFacts;
    rewardToken: string | undefined;
    checkpoint: CheckpointRow;
    windows: readonly Window[];
    days: readonly (V2Bucket & { start: number })[];
  },
): Promise<Holding> {
  const { row, pool, state, checkpoint, days } = query;
  const { balance, staked } = positionText.read(row.position);
  const coverage = coverageOf(pool, checkpoint);
  const worth = valueV2Pool(pool, { ...query, holdings: holdingsOf(state), now: checkpoint.blockTime });
  const earned = await Promise.all(
    query.windows.map((window) =>
      isCovered(window, coverage) ? earnedIn(store, { row, state, days, window }) : null,
    ),
  );
  return {
    poolAddress: pool.poolAddress,
    token0: tokenOf(pool, { side: 0, usd: worth.values.usd0 }),
    token1: tokenOf(pool, { side: 1, usd: worth.values.usd1 }),
    balance,
    staked,
    totalSupply: state.totalSupply,
    reserve0: state.reserve0,
    reserve1: state.reserve1,
    earned,
    swapFeeAprs: query.windows.map((window, i) => {
      const sum = v2NumbersOf(days, { window, coverage });
      const feesUsd = sum === undefined ? null : feesUsdOf(sum);
      return swapFeeApr(feesUsd, { days: WINDOW_DAYS[i] as number, tvlUsd: worth.tvlUsd });
    }),
    rewardApr: worth.rewardApr,
  };
}

function tokenOf(pool: PoolRow, { side, usd }: { side: 0 | 1; usd: number | null }): PortfolioToken {
  const [address, symbol, decimals] =
    side === 0
      ? [pool.token0Address, pool.token0Symbol, pool.token0Decimals]
      : [pool.token1Address, pool.token1Symbol, pool.token1Decimals];
  return { address, symbol, decimals, priceUsd: usd };
}

/** Earned up to the window's end less earned up to its start. */
async function earnedIn(
  store: Store,
  options: {
    row: LpPositionRow;
    state: V2State;
    days: readonly (V2Bucket & { start: number })[];
    window: Window;
  },
): Promise<Earned> {
  const [start, end] = await Promise.all([
    settledAt(store, { ...options, time: options.window.start }),
    settledAt(store, { ...options, time: options.window.end }),
  ]);
  return { earned0: end.earned0 - start.earned0, earned1: end.earned1 - start.earned1 };
}

/** The position just before a midnight, settled with the pool's index at that time. */
async function settledAt(
  store: Store,
  at: { row: LpPositionRow; state: V2State; days: readonly (V2Bucket & { start: number })[]; time: number },
): Promise<LpPosition> {
  const position = await positionBefore(store, at);
  // The current index less its growth since then.
  let { index0, index1 } = at.state;
  for (const day of at.days) {
    if (day.start < at.time) continue;
    index0 -= day.growth0;
    index1 -= day.growth1;
  }
  return settle(position, { index0, index1 });
}

async function positionBefore(
  store: Store,
  { row, time }: { row: LpPositionRow; time: number },
): Promise<LpPosition> {
  if (row.lastTime < time) return positionText.read(row.position);
  if (row.firstTime >= time) return positionText.read(row.anchor);
  const { chainId, wallet, poolAddress } = row;
  const event = await lastLpEventBefore(store, { chainId, wallet, poolAddress, time });
  return event === undefined ? EMPTY_POSITION : positionText.read(event.position);
}
