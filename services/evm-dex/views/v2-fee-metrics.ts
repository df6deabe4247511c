import type { Store } from "../../shared/storage/port.ts";
import { DAY } from "../metrics/bucket.ts";
import { toWholeTokens } from "../metrics/pool-price.ts";
import { swapFeeApr } from "../metrics/v2-apr.ts";
import { feesUsdOf, type V2Bucket, volumeUsdOf } from "../metrics/v2-bucket.ts";
import { completedDays, partsOf, v2SumOf } from "../metrics/v2-window.ts";
import type { PoolRow } from "../store/collections.ts";
import { findV2Rollups } from "../store/v2-queries.ts";
import { coverageOf, readV2Facts, toV2Bucket } from "./v2-facts.ts";
import { readV2Fee } from "./v2-fee.ts";
import type { PoolView, ViewQuery } from "./view.ts";

const DAYS = 7;
/** Unit of the factory's fees, in hundredths of a bip. */
const FEE_UNIT = 100;

export const v2FeeMetricsView: PoolView<V2FeeMetricsRow> = {
  name: "v2-fee-metrics",
  generation: "v2",
  read: readRow,
};

type V2FeeMetricsRow = Awaited<ReturnType<typeof readRow>>;

async function readRow(store: Store, query: ViewQuery) {
  const { pool, checkpoint } = query;
  const { state, tvlUsd } = await readV2Facts(store, { ...query, rewardToken: undefined });
  const window = completedDays(checkpoint.blockTime, DAYS);
  const rows = await findV2Rollups(store, {
    ...{ chainId: pool.chainId, pools: [pool.poolAddress], span: DAY },
    ...window,
  });
  const buckets = rows.map(toV2Bucket);
  const coverage = coverageOf(pool, checkpoint);
  const week = cellsOf(pool, v2SumOf(buckets, { window, coverage }));
  return {
    poolId: pool.poolAddress,
    feeTier: (await readV2Fee(store, { ...query, state })) * FEE_UNIT,
    timeframeAt: "7d",
    feeApr: swapFeeApr(week.feesUsd, { days: DAYS, tvlUsd }),
    volumeTvlRatio:
      week.volumeUsd === null || tvlUsd === null || tvlUsd <= 0 ? null : week.volumeUsd / tvlUsd,
    feesUsd: week.feesUsd,
    feesToken0: week.feesToken0,
    feesToken1: week.feesToken1,
    historicalFees: partsOf(window, DAY).map((day) => {
      const cells = cellsOf(pool, v2SumOf(buckets, { window: day, coverage }));
      return [day.start, cells.volumeUsd, cells.feesUsd, cells.feesToken0, cells.feesToken1];
    }),
    updatedAt: checkpoint.blockTime,
  };
}

function cellsOf(pool: PoolRow, sum: V2Bucket | undefined) {
  if (sum === undefined) return { volumeUsd: null, feesUsd: null, feesToken0: null, feesToken1: null };
  return {
    volumeUsd: volumeUsdOf(sum),
    feesUsd: feesUsdOf(sum),
    feesToken0: toWholeTokens(sum.fees0, pool.token0Decimals),
    feesToken1: toWholeTokens(sum.fees1, pool.token1Decimals),
  };
}
