import {
  type CandleRange,
  candleStart,
  firstCandle,
  INTERVAL_SECONDS,
} from "../../../shared/contract/candle-params.ts";
import type { Pacer } from "../../../shared/service/pacer.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { spansOf } from "../../endpoints/candle-params.ts";
import { HOUR, type Span } from "../../metrics/bucket.ts";
import { type PoolCandle, PriceSteps, poolCandles } from "../../metrics/ohlcv.ts";
import { type CheckpointRow, type PoolRow, poolEvents, rollups } from "../../store/collections.ts";
import { listRetentions } from "../../store/retention.ts";
import {
  type BucketRange,
  hasPriceBuckets,
  readAnchorPrices,
  readPoolPrices,
  readV2Hours,
} from "./pool-prices.ts";
import type { PricePath } from "./price-path.ts";

export interface Candles {
  readonly candles: readonly PoolCandle[];
  /** Length of the buckets that they are made of. */
  readonly span: number;
}

interface CandleQuery {
  readonly pool: PoolRow;
  /** The token whose prices they are. */
  readonly base: 0 | 1;
  /** Of the other token; undefined where it has no price. */
  readonly path: PricePath | undefined;
  readonly range: CandleRange;
  readonly checkpoint: CheckpointRow;
  readonly pacer: Pacer;
}

/**
 * Candles of a pool that begin in the range, each whole, the latest as far as it is indexed; those that begin before the first
 * indexed block or before what is still stored are left out.
 */
export async function readPoolCandles(store: Store, query: CandleQuery): Promise<Candles> {
  const { pool, base, path, checkpoint, pacer } = query;
  const { interval } = query.range;
  const range = await findBuckets(store, query);
  const { buckets, before, span } = await readPoolPrices(store, { pool, range, pacer });
  const usdAt = await readUsd(store, { path, range, checkpoint, pacer });
  const found = poolCandles({ buckets, before, interval, base, usdAt });
  const isComplete = hasPriceBuckets(pool) || INTERVAL_SECONDS[interval] < HOUR;
  const candles = isComplete ? found : await withV2Sums(store, found, { pool, range, interval });
  return { candles, span };
}

/** The finest buckets that are stored for the whole range, or else for as much of it as possible. */
async function findBuckets(store: Store, { pool, range, checkpoint }: CandleQuery): Promise<BucketRange> {
  const { interval, after_time, before_time } = range;
  const kept = await listRetentions(store, checkpoint.chainId);
  const coveredFrom = checkpoint.fromBlock === 0 ? 0 : checkpoint.fromTime;
  const wanted = firstCandle(Math.max(after_time, coveredFrom), interval);
  const ranges = spansOf(interval).map((span) => {
    const rows = hasPriceBuckets(pool) ? `${rollups.name}/${span}` : poolEvents.name;
    const start = Math.max(wanted, firstCandle(kept.get(rows)?.time ?? 0, interval));
    return { span, start };
  });
  const earliest = Math.min(...ranges.map(({ start }) => start));
  const { span, start } = ranges.find((each) => each.start === earliest) as { span: Span; start: number };
  const now = candleStart(checkpoint.blockTime, interval) + INTERVAL_SECONDS[interval];
  return { span, start, end: Math.max(start, Math.min(firstCandle(before_time, interval), now)) };
}

/** USD of a token over time, by the pools that price it at the head. */
async function readUsd(
  store: Store,
  {
    path,
    range,
    checkpoint,
    pacer,
  }: { path: PricePath | undefined; range: BucketRange; checkpoint: CheckpointRow; pacer: Pacer },
): Promise<(time: number) => number | undefined> {
  if (path === undefined || range.start >= range.end) return () => undefined;
  const { chainId, blockNumber: block } = checkpoint;
  const steps: { readonly side: 0 | 1; readonly prices: PriceSteps }[] = [];
  for (const { pool, side } of path.steps) {
    const { buckets, before } = await readPoolPrices(store, { pool, range, pacer });
    steps.push({ side, prices: new PriceSteps(buckets, before) });
  }
  const own = await readAnchorPrices(store, { chainId, token: path.anchor, block, span: range.span });
  const anchor = new PriceSteps(own, own[0]?.price);
  return (time) => {
    let usd = anchor.at(time);
    for (const { side, prices } of steps) {
      const price = prices.at(time);
      if (usd === undefined || price === undefined) return undefined;
      usd = side === 0 ? usd * price : usd / price;
    }
    return usd;
  };
}

/** With the sums of a v2 pool's hours; without the candles in which liquidity alone moved. */
async function withV2Sums(
  store: Store,
  candles: readonly PoolCandle[],
  { pool, range, interval }: { pool: PoolRow; range: BucketRange; interval: CandleRange["interval"] },
): Promise<PoolCandle[]> {
  const sums = new Map<number, { swapCount: number; volumeUsd: number | null }>();
  for (const hour of await readV2Hours(store, { pool, start: range.start, end: range.end })) {
    const start = candleStart(hour.start, interval);
    const { swapCount, volumeUsd } = sums.get(start) ?? { swapCount: 0, volumeUsd: 0 };
    sums.set(start, {
      swapCount: swapCount + hour.swapCount,
      volumeUsd: volumeUsd === null || hour.volumeUsd === null ? null : volumeUsd + hour.volumeUsd,
    });
  }
  return candles.flatMap((candle) => {
    const sum = sums.get(candle.start);
    return sum === undefined ? [] : [Object.assign({}, candle, sum)];
  });
}
