import { formatDateTime } from "../../shared/contract/cells.ts";
import type { Store } from "../../shared/storage/port.ts";
import { DAY, HOUR } from "../metrics/bucket.ts";
import { swapFeeApr } from "../metrics/v2-apr.ts";
import { feesUsdOf, type V2Numbers, volumeUsdOf } from "../metrics/v2-bucket.ts";
import { completedDays, hoursUpTo, v2NumbersOf } from "../metrics/v2-window.ts";
import { findV2Numbers } from "../store/v2-queries.ts";
import { readOpenHour, withOpenHour } from "./past-v2-buckets.ts";
import { coverageOf, type RewardTokens, readV2Facts, v2Identity } from "./v2-facts.ts";
import { readV2Fee } from "./v2-fee.ts";
import type { PoolView, ViewQuery } from "./view.ts";

/** Most days of an APR. */
const MAX_APR_DAYS = 30;

/** The row of one v2 pool, with the swap-fee APR of every number of days. */
export function v2PoolView(rewards: RewardTokens): PoolView<V2PoolRow> {
  return {
    name: "v2-pool",
    generation: "v2",
    read: (store, query) => readRow(store, { ...query, rewardToken: rewards.tokenOf(query.pool) }),
  };
}

type Timed = Readonly<V2Numbers> & { readonly start: number };

type V2PoolRow = Awaited<ReturnType<typeof readRow>>;

async function readRow(store: Store, query: ViewQuery & { rewardToken: string | undefined }) {
  const { pool, checkpoint } = query;
  const facts = await readV2Facts(store, query);
  const coverage = coverageOf(pool, checkpoint);
  const key = { chainId: pool.chainId, pools: [pool.poolAddress] };
  const lastDay = hoursUpTo(checkpoint.blockTime, 24);
  const daysBack = (days: number) => completedDays(checkpoint.blockTime, days);
  const [stored, days, open] = await Promise.all([
    findV2Numbers(store, { ...key, span: HOUR, ...lastDay }),
    findV2Numbers(store, { ...key, span: DAY, ...daysBack(MAX_APR_DAYS) }),
    readOpenHour(store, query),
  ]);
  const hours = withOpenHour<Timed>(stored, open?.bucket);
  const ofDays = (count: number) => v2NumbersOf(days, { window: daysBack(count), coverage });
  const ofHours = v2NumbersOf(hours, { window: lastDay, coverage });
  const week = ofDays(7);
  const aprs = Array.from({ length: MAX_APR_DAYS }, (_, i) => {
    const sum = ofDays(i + 1);
    return swapFeeApr(sum === undefined ? null : feesUsdOf(sum), { days: i + 1, tvlUsd: facts.tvlUsd });
  });
  return {
    ...v2Identity(pool, facts.tvlUsd),
    stable: pool.stable,
    fee: (await readV2Fee(store, { ...query, state: facts.state })) / 10_000,
    reserve0: facts.reserve0,
    reserve1: facts.reserve1,
    token0PriceUsd: facts.price0Usd,
    token1PriceUsd: facts.price1Usd,
    volume24hUsd: ofHours === undefined ? null : volumeUsdOf(ofHours),
    volume7dUsd: week === undefined ? null : volumeUsdOf(week),
    fees7dUsd: week === undefined ? null : feesUsdOf(week),
    /** Of one day, of two, and so on. */
    swapFeeAprs: aprs,
    rewardApr: facts.rewardApr,
    createdAt: formatDateTime(pool.createdAt),
    updatedAt: formatDateTime(checkpoint.blockTime),
  };
}
