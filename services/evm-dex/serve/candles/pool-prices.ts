import type { Pacer } from "../../../shared/service/pacer.ts";
import type { Store } from "../../../shared/storage/port.ts";
import { HOUR, type Span, startOf } from "../../metrics/bucket.ts";
import type { PriceBucket } from "../../metrics/ohlcv.ts";
import { volumeUsdOf } from "../../metrics/v2-bucket.ts";
import { protocolOf } from "../../protocols/index.ts";
import { type PoolRow, poolEvents, priceLinks } from "../../store/collections.ts";
import { findRollups, lastCloseBefore, lastEventsUpTo } from "../../store/queries.ts";
import { findV2Rollups } from "../../store/v2-queries.ts";
import { toV2Bucket } from "../../views/v2-facts.ts";

/** Buckets looked at between two pauses. */
const BUCKETS_PER_READ = 2_000;
/** States are rows of several hundred bytes, found one by one. */
const STATES_PER_READ = 250;
/** Look-ups of states at most; MongoDB answers each by a query of its own. Of longer ranges every fifth minute or second hour is read. */
const MAX_STATES = 5_000;
const COARSER_SPANS: Readonly<Record<number, number>> = { 60: 300, 3600: 7_200 };
/** A stablecoin has a price of its own only while it is off its peg. */
const MAX_ANCHOR_PRICES = 5_000;

export interface BucketRange {
  readonly span: Span;
  /** Unix seconds; both are multiples of the span. */
  readonly start: number;
  readonly end: number;
}

export interface PoolPrices {
  /** Oldest first. */
  readonly buckets: readonly PriceBucket[];
  /** The last price before them. */
  readonly before: number | undefined;
  /** Length of the buckets in seconds. */
  readonly span: number;
}

/** Whether buckets of this pool hold its prices; of others they are the states of single events. */
export function hasPriceBuckets(pool: PoolRow): boolean {
  return protocolOf(pool.protocol).swapFees === undefined;
}

/** The last price of a pool in each bucket of a range in which it had events. */
export function readPoolPrices(
  store: Store,
  query: { pool: PoolRow; range: BucketRange; pacer: Pacer },
): Promise<PoolPrices> {
  return hasPriceBuckets(query.pool) ? readBuckets(store, query) : readStates(store, query);
}

async function readBuckets(
  store: Store,
  { pool, range, pacer }: { pool: PoolRow; range: BucketRange; pacer: Pacer },
): Promise<PoolPrices> {
  const { chainId, poolAddress } = pool;
  const { span, end } = range;
  const before = await lastCloseBefore(store, { chainId, poolAddress, span, start: range.start });
  const buckets: PriceBucket[] = [];
  for (let start = range.start; start < end; start += BUCKETS_PER_READ * span) {
    const upTo = Math.min(end, start + BUCKETS_PER_READ * span);
    for (const row of await findRollups(store, { chainId, poolAddress, span, start, end: upTo })) {
      const { swapCount, unpricedCount } = row;
      const volumeUsd = unpricedCount > 0 ? null : row.volumeUsd;
      buckets.push({ start: row.start, price: row.closePrice, swapCount, volumeUsd });
    }
    await pacer.step();
  }
  return { buckets, before, span };
}

/** Of each bucket the state after its last event: a look-up a bucket, however many events it had. */
async function readStates(
  store: Store,
  { pool, range, pacer }: { pool: PoolRow; range: BucketRange; pacer: Pacer },
): Promise<PoolPrices> {
  const { chainId, poolAddress } = pool;
  const { start, end } = range;
  const isLong = (end - start) / range.span > MAX_STATES;
  const span = (isLong ? COARSER_SPANS[range.span] : undefined) ?? range.span;
  const protocol = protocolOf(pool.protocol);
  const priceOf = (state: string) => protocol.price(protocol.read(state), pool);
  const last = await lastEventsUpTo(store, { chainId, pools: [poolAddress], time: start - 1 });
  const before = last.get(poolAddress);
  const prices = new Map<number, number>();
  for (let from = start; from < end; from += STATES_PER_READ * span) {
    const keys: { chainId: number; poolAddress: string; time: number }[] = [];
    for (let at = from; at < Math.min(end, from + STATES_PER_READ * span); at += span)
      keys.push({ chainId, poolAddress, time: at + span - 1 });
    for (const row of await store.getLast(poolEvents, keys, ["chainId", "poolAddress", "time"])) {
      const price = row.time < start ? undefined : priceOf(row.state);
      if (price !== undefined) prices.set(startOf(row.time, span), price);
    }
    await pacer.step();
  }
  const buckets = [...prices]
    .sort(([a], [b]) => a - b)
    .map(([at, price]) => ({ start: at, price, swapCount: null, volumeUsd: null }));
  return { buckets, before: before && priceOf(before.state), span };
}

/** Swaps and volume of a v2 pool by hour; it has no smaller buckets. */
export async function readV2Hours(
  store: Store,
  { pool, start, end }: { pool: PoolRow; start: number; end: number },
): Promise<{ start: number; swapCount: number; volumeUsd: number | null }[]> {
  const { chainId, poolAddress } = pool;
  const rows = await findV2Rollups(store, { chainId, pools: [poolAddress], span: HOUR, start, end });
  return rows.map((row) => {
    const bucket = toV2Bucket(row);
    return { start: row.start, swapCount: bucket.swapCount, volumeUsd: volumeUsdOf(bucket) };
  });
}

/** USD of an anchor from each bucket on in which it changed, oldest first; before the first one it was worth the same. */
export async function readAnchorPrices(
  store: Store,
  { chainId, token, block, span }: { chainId: number; token: string; block: number; span: Span },
): Promise<{ start: number; price: number }[]> {
  const rows = await store.find(priceLinks, {
    filter: { chainId, token, blockNumber: { lte: block } },
    order: [{ field: "blockNumber", direction: "desc" }],
    limit: MAX_ANCHOR_PRICES,
    fields: ["time", "price", "pool"],
  });
  return rows
    .filter(({ pool, price }) => pool === "" && price > 0)
    .reverse()
    .map(({ time, price }) => ({ start: startOf(time, span), price }));
}
