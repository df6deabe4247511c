import type { Store } from "../../shared/storage/port.ts";
import { HOUR } from "../metrics/bucket.ts";
import { toDecimal } from "../metrics/decimal.ts";
import { type LargeSwap, largestOf } from "../metrics/large-swaps.ts";
import { type V2Bucket, volumeUsdOf } from "../metrics/v2-bucket.ts";
import { hoursUpTo, partsOf, v2SumOf } from "../metrics/v2-window.ts";
import { v2LargeSwaps } from "../store/v2-collections.ts";
import { findLargeSwaps, findV2Rollups } from "../store/v2-queries.ts";
import { readOpenHour, withOpenHour } from "./past-v2-buckets.ts";
import { coverageOf, toV2Bucket } from "./v2-facts.ts";
import type { PoolView, ViewQuery } from "./view.ts";

const HOURS = 24;
const ZERO_FOR_ONE = "token0_to_token1";
const ONE_FOR_ZERO = "token1_to_token0";

export const v2VolumeView: PoolView<V2VolumeRow> = {
  name: "v2-volume",
  generation: "v2",
  needs: [{ rows: v2LargeSwaps.name, seconds: HOURS * HOUR }],
  read: readRow,
};

type Timed = Readonly<V2Bucket> & { readonly start: number };

type V2VolumeRow = Awaited<ReturnType<typeof readRow>>;

async function readRow(store: Store, query: ViewQuery) {
  const { pool, checkpoint } = query;
  const { chainId, poolAddress } = pool;
  const window = hoursUpTo(checkpoint.blockTime, HOURS);
  const before = { start: window.start - HOURS * HOUR, end: window.start };
  const [rows, largeRows, open] = await Promise.all([
    findV2Rollups(store, {
      ...{ chainId, pools: [poolAddress], span: HOUR },
      ...{ start: before.start, end: window.end },
    }),
    findLargeSwaps(store, { chainId, poolAddress, ...window }),
    readOpenHour(store, query),
  ]);
  const buckets = withOpenHour<Timed>(rows.map(toV2Bucket), open?.bucket);
  const openLarge = open && { start: open.bucket.start, swaps: open.largest as unknown };
  const large = withOpenHour(largeRows, openLarge).flatMap(({ swaps }) => swaps as LargeSwap[]);
  const coverage = coverageOf(pool, checkpoint);
  const sum = v2SumOf(buckets, { window, coverage });
  const volumeUsd = sum === undefined ? null : volumeUsdOf(sum);
  return {
    poolId: poolAddress,
    timeframeAt: "24h",
    volumeUsd,
    volumeToken0: sum === undefined ? null : toDecimal(sum.volume0, pool.token0Decimals),
    volumeToken1: sum === undefined ? null : toDecimal(sum.volume1, pool.token1Decimals),
    volumeChange: changeOf(volumeUsd, v2SumOf(buckets, { window: before, coverage })),
    swapCount: sum?.swapCount ?? null,
    averageSwapSizeUsd: volumeUsd === null || !sum?.swapCount ? null : volumeUsd / sum.swapCount,
    volumeByHour: partsOf(window, HOUR).map((hour) => {
      const ofHour = v2SumOf(buckets, { window: hour, coverage });
      return [hour.start, ofHour === undefined ? null : volumeUsdOf(ofHour), ofHour?.swapCount ?? null];
    }),
    volumeByToken: [
      [ZERO_FOR_ONE, volumeUsd === null ? null : (sum?.zeroForOneUsd ?? null)],
      [ONE_FOR_ZERO, volumeUsd === null ? null : (sum?.oneForZeroUsd ?? null)],
    ],
    // The ten largest swaps of an hour need not be among those of the window.
    largestSwaps: sum === undefined ? [] : largestCells(large),
    updatedAt: checkpoint.blockTime,
  };
}

function changeOf(volumeUsd: number | null, before: V2Bucket | undefined): number | null {
  const beforeUsd = before === undefined ? null : volumeUsdOf(before);
  return volumeUsd === null || !beforeUsd ? null : volumeUsd / beforeUsd - 1;
}

function largestCells(swaps: readonly LargeSwap[]) {
  return largestOf(swaps).map(({ txHash, time, valueUsd, zeroForOne }) => [
    txHash,
    time,
    valueUsd,
    zeroForOne ? ZERO_FOR_ONE : ONE_FOR_ZERO,
  ]);
}
