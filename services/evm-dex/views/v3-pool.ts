import { formatDateTime } from "../../shared/contract/cells.ts";
import type { Store } from "../../shared/storage/port.ts";
import { HOUR, MINUTE } from "../metrics/bucket.ts";
import { toWholeTokens } from "../metrics/pool-price.ts";
import { metricsOf, type RangeMetrics } from "../metrics/pool-windows.ts";
import { pairUsd } from "../metrics/v2-usd.ts";
import { TIME_RANGES } from "../metrics/window.ts";
import { pairValues } from "../price/pair-values.ts";
import { protocolOf } from "../protocols/index.ts";
import type { Protocol } from "../protocols/protocol.ts";
import { priceOf } from "../protocols/v3/protocol.ts";
import { readState } from "../protocols/v3/state.ts";
import { type PoolRow, rollups } from "../store/collections.ts";
import { lastObservation } from "../store/observations.ts";
import { readPrices } from "../store/price-links.ts";
import { getPoolFee, getPoolState, type PoolState } from "../store/queries.ts";
import { pastRollupsOf } from "./past-buckets.ts";
import { readPastState } from "./past-state.ts";
import { withPastUsers } from "./past-users.ts";
import { readBuckets } from "./v3-buckets.ts";
import { createNoDataError, createUnreadError, type PoolView, type ViewQuery } from "./view.ts";

/** All columns of the v3 pool endpoints of any family for one pool. */
export const v3PoolView: PoolView<V3PoolRow> = {
  name: "v3",
  generation: "v3",
  // Closes of minutes, and those of the open hour.
  needs: [{ rows: `${rollups.name}/${MINUTE}`, seconds: HOUR + MINUTE }],
  async read(store, query) {
    const { pool, checkpoint, isPast } = query;
    const state = await (isPast ? readPastState(store, query) : getPoolState(store, pool));
    if (state === undefined) throw createNoDataError(pool, checkpoint);
    const fee = await readFee(store, query);
    const tvlUsd = await readTvlUsd(store, { pool, state, block: checkpoint.blockNumber });
    const buckets = await readBuckets(store, {
      ...{ pool, headTime: checkpoint.blockTime },
      rollups: isPast ? await pastRollupsOf(store, query) : undefined,
    });
    const metrics = metricsOf(buckets, {
      headTime: checkpoint.blockTime,
      coverage: { createdAt: pool.createdAt, indexedFrom: checkpoint.fromTime },
      tvlUsd,
    });
    const counted = isPast ? await withPastUsers(store, metrics, query) : metrics;
    return rowOf({ pool, state, fee, tvlUsd, metrics: counted });
  },
};

/** Every column that a v3 pool endpoint of any family has, by name. */
type V3PoolRow = ReturnType<typeof rowOf>;

/** The fee in force; the tier's where no other was read. */
async function readFee(store: Store, { pool, checkpoint, isPast }: ViewQuery): Promise<number> {
  if (protocolOf(pool.protocol).feeCall === undefined) return pool.fee;
  if (!isPast) return (await getPoolFee(store, pool))?.fee ?? pool.fee;
  const { chainId, poolAddress: address } = pool;
  const at = { chainId, address, what: "fee", block: checkpoint.blockNumber } as const;
  const read = await lastObservation(store, at);
  if (read === undefined) throw createUnreadError(pool, { checkpoint, what: "fee" });
  return read.value0 === null ? pool.fee : Number(read.value0);
}

/** balanceOf(pool) of both tokens × their prices, within the bounds of pairValues; null while one has no price. */
async function readTvlUsd(
  store: Store,
  { pool, state, block }: { pool: PoolRow; state: PoolState; block: number },
): Promise<number | null> {
  const tokens = [pool.token0Address, pool.token1Address];
  const prices = await readPrices(store, { chainId: pool.chainId, tokens, block });
  const [token0, token1] = tokens.map((token) => prices.get(token));
  if (token0 === undefined || token1 === undefined) return null;
  const protocol = protocolOf(pool.protocol);
  const reserves = protocol.reserves(protocol.read(state.state));
  const isRead = state.balanceBlock >= 0;
  const amount0 = toWholeTokens(isRead ? state.balance0 : reserves.amount0, pool.token0Decimals);
  const amount1 = toWholeTokens(isRead ? state.balance1 : reserves.amount1, pool.token1Decimals);
  const price = activePrice(protocol, { state: protocol.read(state.state), pool });
  const { usd0, usd1 } = pairValues(pool.poolAddress, { amount0, amount1, token0, token1, price });
  return pairUsd({ amount0, amount1, price0Usd: usd0, price1Usd: usd1 });
}

/** The pool's price; undefined where no liquidity stands behind it. */
function activePrice(
  protocol: Protocol,
  { state, pool }: { state: unknown; pool: PoolRow },
): number | undefined {
  const { amount0, amount1 } = protocol.depth(state, pool);
  return amount0 > 0 && amount1 > 0 ? protocol.price(state, pool) : undefined;
}

function rowOf(options: {
  pool: PoolRow;
  state: PoolState;
  fee: number;
  tvlUsd: number | null;
  metrics: readonly RangeMetrics[];
}) {
  const { pool, metrics } = options;
  const state = readState(options.state.state);
  return {
    createdAt: formatDateTime(pool.createdAt),
    dexName: pool.dexName,
    token0Address: pool.token0Address,
    token0Symbol: pool.token0Symbol,
    token0Decimals: pool.token0Decimals,
    token1Address: pool.token1Address,
    token1Symbol: pool.token1Symbol,
    token1Decimals: pool.token1Decimals,
    feeTier: options.fee,
    tickSpacing: pool.tickSpacing,
    currentLiquidity: state.liquidity,
    currentSqrtPriceX96: state.sqrtPriceX96,
    currentTick: state.tick,
    currentPoolPrice: priceOf(state.sqrtPriceX96, pool),
    poolTvlUsd: options.tvlUsd,
    timeRanges: TIME_RANGES.map((range) => range.label),
    swapVolumeUsd: metrics.map((range) => range.swapVolumeUsd),
    feeApr: metrics.map((range) => range.feeApr),
    priceVolatilityPct: metrics.map((range) => range.priceVolatilityPct),
    meanAdjustedVolatilityPct: metrics.map((range) => range.meanAdjustedVolatilityPct),
    tickPressurePer1mUsd: metrics.map((range) => range.tickPressurePer1mUsd),
    swapCount: metrics.map((range) => range.swapCount),
    uniqueUserCount: metrics.map((range) => range.uniqueUserCount),
  };
}
