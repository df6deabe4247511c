import type { Store } from "../../../shared/storage/port.ts";
import { DAY, HOUR, startOf } from "../../metrics/bucket.ts";
import { type LargeSwap, withSwap } from "../../metrics/large-swaps.ts";
import { emptyV2Bucket, mergeV2Into, type V2Bucket, v2AmountsText } from "../../metrics/v2-bucket.ts";
import type { BucketKey } from "../../store/queries.ts";
import type { V2LargeSwapsRow, V2RollupRow } from "../../store/v2-collections.ts";
import { getLargeSwaps, getV2Rollups } from "../../store/v2-queries.ts";
import { toLargeSwap, type V2SwapRow, v2BucketOf } from "../../views/v2-swap.ts";
import { RecentRows } from "./recent-rows.ts";

/** Spans of a v2 pool's rollups. */
export const V2_SPANS = [HOUR, DAY] as const;

/**
 * Most buckets and hours of large swaps kept in memory between writes. 40,000 and 20,000 took 37 MB more and no less CPU
 * (`BENCH_BLOCKS=10800 npm run bench:day`).
 */
const MAX_BUCKETS = 16_000;
const MAX_SWAPS = 8_000;

interface CachedBucket {
  readonly poolAddress: string;
  readonly span: number;
  readonly start: number;
  readonly bucket: V2Bucket;
  /** Since the last flush. */
  isChanged: boolean;
}

interface CachedLargeSwaps {
  readonly poolAddress: string;
  readonly start: number;
  largest: readonly LargeSwap[];
  isChanged: boolean;
}

/** What the swaps of a pool's hour are added to. */
interface OpenHour {
  readonly start: number;
  readonly hour: CachedBucket;
  readonly day: CachedBucket;
  readonly swaps: CachedLargeSwaps;
}

/**
 * Hours and days of one chain's v2 pools and the largest swaps of their hours, as absolute rows: loaded before they are
 * changed, written whole. Replaying a write is therefore harmless.
 */
export class V2Book {
  readonly #store: Store;
  readonly #chainId: number;
  /** By hours of the start × 2, and 1 more for a day. */
  readonly #buckets = new RecentRows<number, CachedBucket>(MAX_BUCKETS, "numbers");
  /** By hours of the start. */
  readonly #swaps = new RecentRows<number, CachedLargeSwaps>(MAX_SWAPS, "numbers");
  /** Of each pool with a swap since the last flush the hour of the last one: most swaps are in it. */
  readonly #open = new Map<string, OpenHour>();
  readonly #changedBuckets: CachedBucket[] = [];
  readonly #changedSwaps: CachedLargeSwaps[] = [];

  constructor(store: Store, chainId: number) {
    this.#store = store;
    this.#chainId = chainId;
  }

  /**
   * Loads everything that adding these swaps will change.
   * @param lastTimeOf as of BucketBook.prepare
   */
  async prepare(
    swaps: readonly { poolAddress: string; time: number }[],
    lastTimeOf: (pool: string) => number = () => Number.POSITIVE_INFINITY,
  ): Promise<void> {
    const buckets: BucketKey[] = [];
    const hours: { poolAddress: string; start: number }[] = [];
    const prepared = new Map<string, number>();
    for (const { poolAddress, time } of swaps) {
      const hour = startOf(time, HOUR);
      if (prepared.get(poolAddress) === hour) continue;
      prepared.set(poolAddress, hour);
      for (const span of V2_SPANS) {
        const start = startOf(time, span);
        if (this.#buckets.get(poolAddress, bucketKey(span, start)) === undefined)
          buckets.push({ poolAddress, span, start });
      }
      if (this.#swaps.get(poolAddress, hour / HOUR) === undefined) hours.push({ poolAddress, start: hour });
    }
    if (buckets.length === 0 && hours.length === 0) return;
    const chainId = this.#chainId;
    const isStored = ({ poolAddress, start }: { poolAddress: string; start: number }) =>
      start <= lastTimeOf(poolAddress);
    const [rollups, largest] = await Promise.all([
      getV2Rollups(this.#store, { chainId, buckets: buckets.filter(isStored) }),
      getLargeSwaps(this.#store, { chainId, hours: hours.filter(isStored) }),
    ]);
    // Only now: where reading fails, what is stored is still to be read.
    for (const { poolAddress, span, start } of buckets)
      this.#addBucket({ poolAddress, span, start, bucket: emptyV2Bucket(), isChanged: false });
    for (const { poolAddress, start } of hours)
      this.#addSwaps({ poolAddress, start, largest: [], isChanged: false });
    for (const row of rollups) {
      const { poolAddress, span, start } = row;
      this.#addBucket({ poolAddress, span, start, bucket: readRollup(row), isChanged: false });
    }
    for (const { poolAddress, start, swaps: stored } of largest)
      this.#addSwaps({ poolAddress, start, largest: stored as readonly LargeSwap[], isChanged: false });
  }

  /** Adds a swap. `prepare` must have loaded its rows. */
  add(swap: V2SwapRow): void {
    const { hour, day, swaps } = this.#openHour(swap);
    const added = v2BucketOf(swap);
    mergeV2Into(hour.bucket, added);
    mergeV2Into(day.bucket, added);
    const largest = withSwap(swaps.largest, toLargeSwap(swap));
    if (largest === swaps.largest) return;
    swaps.largest = largest;
    if (swaps.isChanged) return;
    swaps.isChanged = true;
    this.#changedSwaps.push(swaps);
  }

  #openHour({ poolAddress, time }: V2SwapRow): OpenHour {
    const start = startOf(time, HOUR);
    const known = this.#open.get(poolAddress);
    if (known?.start === start) return known;
    const [hour, day] = V2_SPANS.map((span) => {
      const cached = this.#buckets.get(poolAddress, bucketKey(span, startOf(time, span)));
      if (cached === undefined) throw new Error(`The swaps of ${poolAddress} at ${time} were not loaded.`);
      if (!cached.isChanged) this.#changedBuckets.push(cached);
      cached.isChanged = true;
      return cached;
    }) as [CachedBucket, CachedBucket];
    const swaps = this.#swaps.get(poolAddress, start / HOUR) as CachedLargeSwaps;
    const opened = { start, hour, day, swaps };
    this.#open.set(poolAddress, opened);
    return opened;
  }

  #addBucket(cached: CachedBucket): void {
    this.#buckets.set(cached.poolAddress, bucketKey(cached.span, cached.start), cached);
  }

  #addSwaps(cached: CachedLargeSwaps): void {
    this.#swaps.set(cached.poolAddress, cached.start / HOUR, cached);
  }

  /** Returns the rows that changed since the last flush. */
  flush(): { rollups: V2RollupRow[]; largeSwaps: V2LargeSwapsRow[] } {
    const chainId = this.#chainId;
    const rollups = this.#changedBuckets.splice(0).map((cached) => {
      cached.isChanged = false;
      const { poolAddress, span, start, bucket } = cached;
      return toRollup({ chainId, poolAddress, span, start }, bucket);
    });
    const largeSwaps = this.#changedSwaps.splice(0).map((cached) => {
      cached.isChanged = false;
      const { poolAddress, start, largest } = cached;
      return { chainId, poolAddress, start, swaps: largest };
    });
    // A row that is dropped may be loaded again as another object.
    this.#open.clear();
    this.#buckets.age();
    this.#swaps.age();
    return { rollups, largeSwaps };
  }

  /** Forgets the rows of pools that were rolled back in the store. */
  forget(pools: Iterable<string>): void {
    for (const pool of pools) {
      this.#buckets.forget(pool);
      this.#swaps.forget(pool);
      this.#open.delete(pool);
    }
  }
}

/** A bucket as a stored row. */
export function toRollup(at: BucketKey & { chainId: number }, bucket: V2Bucket): V2RollupRow {
  const { chainId, poolAddress, span, start } = at;
  const { swapCount, unpricedCount, zeroForOneUsd, oneForZeroUsd, feesUsd } = bucket;
  return {
    chainId,
    poolAddress,
    span,
    start,
    swapCount,
    unpricedCount,
    zeroForOneUsd,
    oneForZeroUsd,
    feesUsd,
    amounts: v2AmountsText.write(bucket),
  };
}

export function readRollup(row: V2RollupRow): V2Bucket {
  const { swapCount, unpricedCount, zeroForOneUsd, oneForZeroUsd, feesUsd } = row;
  const { volume0, volume1, fees0, fees1, growth0, growth1 } = v2AmountsText.read(row.amounts);
  return {
    swapCount,
    unpricedCount,
    zeroForOneUsd,
    oneForZeroUsd,
    feesUsd,
    volume0,
    volume1,
    fees0,
    fees1,
    growth0,
    growth1,
  };
}

/** An hour and a day may start together. */
function bucketKey(span: number, start: number): number {
  return (start / HOUR) * 2 + (span === HOUR ? 0 : 1);
}
