import { formatDateTime } from "../../shared/contract/cells.ts";
import type { Store } from "../../shared/storage/port.ts";
import { HOUR, MINUTE } from "../metrics/bucket.ts";
import { metricsOf, type RangeMetrics } from "../metrics/pool-windows.ts";
import { TIME_RANGES } from "../metrics/window.ts";
import { protocolOf } from "../protocols/index.ts";
import { priceOf } from "../protocols/v3/protocol.ts";
import { readState } from "../protocols/v3/state.ts";
import { type PoolRow, rollups } from "../store/collections.ts";
import { lastObservation } from "../store/observations.ts";
import { readPrices } from "../store/price-links.ts";
import { getPoolFee, getPoolState, type PoolState } from "../store/queries.ts";
import { pastRollupsOf } from "./past-buckets.ts";
import { readPastState } from "./past-state.ts";
import { withPastUsers } from "./past-users.ts";
import { v3TvlUsd } from "./pool-tvl.ts";
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

/** By the prices of a block. */
async function readTvlUsd(
  store: Store,
  { pool, state, block }: { pool: PoolRow; state: PoolState; block: number },
): Promise<number | null> {
  const tokens = [pool.token0Address, pool.token1Address];
  const prices = await readPrices(store, { chainId: pool.chainId, tokens, block });
  return v3TvlUsd(pool, { state, price: (token) => prices.get(token) });
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
