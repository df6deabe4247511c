import { formatDateTime } from "../../../shared/contract/cells.ts";
import { requireConsistent } from "../../../shared/index/consistent-read.ts";
import { hasData } from "../../../shared/index/evm/checkpoint.ts";
import { headers } from "../../../shared/index/evm/headers.ts";
import { TimeSlices } from "../../../shared/process/time-slices.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { earnedBetween } from "../../metrics/pool-past.ts";
import { isCovered } from "../../metrics/pool-windows.ts";
import { type Holding, type PortfolioToken, portfolioInSteps } from "../../metrics/portfolio.ts";
import { swapFeeApr } from "../../metrics/v2-apr.ts";
import { completedDays } from "../../metrics/v2-window.ts";
import type { Window } from "../../metrics/window.ts";
import type { CheckpointRow, PoolRow } from "../../store/collections.ts";
import { getCheckpoint } from "../../store/queries.ts";
import { readWalletPast } from "../../store/wallet-queries.ts";
import { coverageOf, type RewardTokens, type TokenFacts, valueV2Pool } from "../../views/v2-facts.ts";
import type { V2HeadState, V2HeadTable } from "../pool-list/v2-head-table.ts";
import type { PastPositions } from "./past-positions.ts";
import { isOfInterest, type Position } from "./positions.ts";
import {
  type ProviderPool,
  type ProviderPools,
  readProviderPools,
  selectProviderPools,
} from "./provider-pools.ts";
import type { WalletMemory } from "./wallet-memory.ts";

/** The windows of fees and APRs, in completed UTC days. */
const WINDOW_DAYS = [7, 30] as const;
const TOP_POOLS = 10;
/** Attempts to read all of one block. */
const MAX_ATTEMPTS = 4;
/** The longest that this work blocks other requests between two of its steps. */
const SLICE_MS = 2;
/** With more positions than this, pools and prices come from the table of all pools. */
const FEW_POSITIONS = 100;

interface SummaryQuery {
  readonly wallet: string;
  readonly chainId: number;
  readonly rewards: RewardTokens;
  readonly table: V2HeadTable | undefined;
  readonly memory: WalletMemory;
  /** Positions that are still few; all but tests use the default. */
  readonly fewPositions?: number;
}

/**
 * The summary of one liquidity provider at the head, and whether all positions are in it; undefined where nothing is
 * indexed yet. Throws unavailable where the chain moves faster than it can be read.
 */
export async function readProviderSummary(store: Store, query: SummaryQuery) {
  const { chainId } = query;
  let last: Awaited<ReturnType<typeof readSummary>> | undefined;
  const found = await requireConsistent({
    getCheckpoint: () => getCheckpoint(store, chainId),
    hasData,
    read: async (checkpoint) => {
      last = await readSummary(store, { ...query, checkpoint });
      return last;
    },
    isSameState: async (_, after) => last !== undefined && (await isStillTrue(store, { read: last, after })),
    maxAttempts: MAX_ATTEMPTS,
  });
  if (found === undefined) return undefined;
  const { row, isComplete, checkpoint, keep } = found.value;
  keep();
  return { row, isComplete, checkpoint };
}

/**
 * Whether all that was read is of one block: that block is still the head, or nothing that was read is later than it
 * and the chain has gone on from there.
 */
async function isStillTrue(
  store: Store,
  { read, after }: { read: Awaited<ReturnType<typeof readSummary>>; after: CheckpointRow | undefined },
): Promise<boolean> {
  const { chainId, blockNumber, blockHash } = read.checkpoint;
  if (after?.blockHash === blockHash) return true;
  if (after === undefined || after.blockNumber <= blockNumber || !read.isOfBlock) return false;
  return (await store.get(headers, { chainId, number: blockNumber }))?.hash === blockHash;
}

async function readSummary(store: Store, query: SummaryQuery & { checkpoint: CheckpointRow }) {
  const { wallet, chainId } = query;
  const slices = new TimeSlices(SLICE_MS);
  // Before the positions: once a wallet is known, all of them are stored.
  const past = await readWalletPast(store, { wallet, checkpoint: query.checkpoint });
  const key = { chainId, wallet, isKnown: past.isKnown, slices };
  const known = await query.memory.readPositions(store, { ...key, checkpoint: query.checkpoint });
  const all = [...known.all.values()];
  const isFew = all.length <= (query.fewPositions ?? FEW_POSITIONS);
  const table = isFew ? undefined : await query.table?.read();
  const checkpoint = table?.checkpoint ?? query.checkpoint;
  const { blockTime, fromTime } = checkpoint;
  const windows = WINDOW_DAYS.map((days) => completedDays(blockTime, days));
  const { start: since = 0, end: midnight = 0 } = windows.at(-1) ?? {};
  const positions = all.filter((position) => isOfInterest(position, since));
  const pools = await readPools(store, { ...query, checkpoint, table, positions, windows, slices });
  const times = [...windows.map(({ start }) => start).reverse(), midnight];
  const before = await query.memory.readPast(store, { ...key, positions: known, since, times });
  const holdings = holdingsIn(positions, { ...query, ...pools, checkpoint, before, windows });
  const isComplete = past.isKnown;
  const steps = portfolioInSteps(holdings, { windows: windows.length, isComplete });
  const portfolio = await slices.run(steps);
  await slices.pause();
  // A position emptied before the index began has left no trace, but may have earned in the window.
  const [fees7d = null, fees30d = null] = windows.map(({ start }, i) =>
    past.hasOldPools && start < fromTime ? null : (portfolio.feesUsd[i] ?? null),
  );
  const row = {
    providerId: wallet,
    totalValueLockedUsd: portfolio.valueUsd,
    activePositionCount: portfolio.positionCount,
    poolCount: portfolio.poolCount,
    totalFeesEarned7d: fees7d,
    totalFeesEarned30d: fees30d,
    averageApr7dWeighted: portfolio.aprs[0] ?? null,
    averageApr30dWeighted: portfolio.aprs[1] ?? null,
    ...timesOf(all),
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
    updatedAt: formatDateTime(blockTime),
  };
  const isLater = ({ events }: Position) => events !== undefined && events.lastBlock > checkpoint.blockNumber;
  return {
    row,
    isComplete,
    checkpoint,
    isOfBlock: !pools.mayBeLater && !all.some(isLater),
    keep: () => {
      pools.keep();
      query.memory.keep(key, { checkpoint, positions: known, times, past: before });
    },
  };
}

function timesOf(positions: readonly Position[]) {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { events } of positions) {
    first = Math.min(first, events?.firstTime ?? first);
    last = Math.max(last, events?.lastTime ?? last);
  }
  const isAny = first <= last;
  return {
    firstPositionTimestamp: isAny ? formatDateTime(first) : null,
    lastActiveTimestamp: isAny ? formatDateTime(last) : null,
  };
}

async function readPools(
  store: Store,
  query: {
    table: V2HeadState | undefined;
    rewards: RewardTokens;
    checkpoint: CheckpointRow;
    positions: readonly Position[];
    windows: readonly Window[];
    slices: TimeSlices;
  },
): Promise<ProviderPools & { mayBeLater: boolean; keep(): void }> {
  const addresses = query.positions.map(({ poolAddress }) => poolAddress);
  if (query.table !== undefined) return selectProviderPools(store, query.table, { ...query, addresses });
  return { ...(await readProviderPools(store, { ...query, addresses })), mayBeLater: true, keep: () => {} };
}

interface HoldingsContext {
  readonly checkpoint: CheckpointRow;
  readonly rewards: RewardTokens;
  readonly tokens: TokenFacts;
  readonly pools: ReadonlyMap<string, ProviderPool>;
  readonly before: PastPositions;
  readonly windows: readonly Window[];
}

function* holdingsIn(positions: readonly Position[], at: HoldingsContext): Generator<Holding> {
  for (const position of positions) {
    const pool = at.pools.get(position.poolAddress);
    if (pool !== undefined) yield holdingOf(position, pool, at);
  }
}

function holdingOf(
  position: Position,
  { pool, state, holdings, past }: ProviderPool,
  at: HoldingsContext,
): Holding {
  const { tokens, checkpoint } = at;
  const coverage = coverageOf(pool, checkpoint);
  const worth = valueV2Pool(pool, {
    holdings,
    tokens,
    rewardToken: at.rewards.tokenOf(pool),
    now: checkpoint.blockTime,
  });
  const earlier = at.before.get(position.poolAddress);
  const end = { position: earlier?.at(-1) ?? position.now, index: past.end };
  return {
    poolAddress: pool.poolAddress,
    token0: tokenOf(pool, { side: 0, usd: worth.values.usd0 }),
    token1: tokenOf(pool, { side: 1, usd: worth.values.usd1 }),
    balance: position.now.balance,
    staked: position.now.staked,
    totalSupply: state.totalSupply,
    reserve0: state.reserve0,
    reserve1: state.reserve1,
    earned: at.windows.map((window, i) => {
      if (!isCovered(window, coverage)) return null;
      const then = earlier?.[at.windows.length - 1 - i] ?? position.now;
      return earnedBetween({ position: then, index: past.starts[i] ?? past.end }, end);
    }),
    swapFeeAprs: WINDOW_DAYS.map((days, i) =>
      swapFeeApr(past.feesUsd[i] ?? null, { days, tvlUsd: worth.tvlUsd }),
    ),
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
