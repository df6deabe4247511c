import type { Store } from "../../../shared/storage/port.ts";
import { DAY, HOUR, startOf } from "../../metrics/bucket.ts";
import { type LargeSwap, withSwap } from "../../metrics/large-swaps.ts";
import { emptyV2Bucket, type V2Bucket, v2AmountsText } from "../../metrics/v2-bucket.ts";
import type { BucketKey } from "../../store/queries.ts";
import type { V2LargeSwapsRow, V2RollupRow } from "../../store/v2-collections.ts";
import { getLargeSwaps, getV2Rollups } from "../../store/v2-queries.ts";
import { countV2Swap, toLargeSwap, type V2SwapRow } from "../../views/v2-swap.ts";
import { RecentRows } from "./recent-rows.ts";

/** Spans of a v2 pool's rollups. */
export const V2_SPANS = [HOUR, DAY] as const;

/** Most buckets and hours of large swaps kept in memory between writes. */
const MAX_BUCKETS = 40_000;
const MAX_SWAPS = 20_000;

interface CachedBucket {
  readonly poolAddress: string;
  readonly span: number;
  readonly start: number;
  readonly bucket: V2Bucket;
}

interface CachedLargeSwaps {
  readonly poolAddress: string;
  readonly start: number;
  largest: readonly LargeSwap[];
}

/**
 * Hours and days of one chain's v2 pools and the largest swaps of their hours, as absolute rows: loaded before they are
 * changed, written whole. Replaying a write is therefore harmless.
 */
export class V2Book {
  readonly #store: Store;
  readonly #chainId: number;
  /** By start × 2, and 1 more for a day. */
  readonly #buckets = new RecentRows<number, CachedBucket>(MAX_BUCKETS);
  /** By start. */
  readonly #swaps = new RecentRows<number, CachedLargeSwaps>(MAX_SWAPS);
  readonly #dirtyBuckets = new Set<CachedBucket>();
  readonly #dirtySwaps = new Set<CachedLargeSwaps>();

  constructor(store: Store, chainId: number) {
    this.#store = store;
    this.#chainId = chainId;
  }

  /** Loads everything that adding these swaps will change. */
  async prepare(swaps: readonly { poolAddress: string; time: number }[]): Promise<void> {
    const buckets: BucketKey[] = [];
    const hours: { poolAddress: string; start: number }[] = [];
    for (const { poolAddress, time } of swaps) {
      for (const span of V2_SPANS) {
        const start = startOf(time, span);
        if (this.#buckets.get(poolAddress, bucketKey(span, start)) !== undefined) continue;
        this.#addBucket({ poolAddress, span, start, bucket: emptyV2Bucket() });
        buckets.push({ poolAddress, span, start });
      }
      const start = startOf(time, HOUR);
      if (this.#swaps.get(poolAddress, start) !== undefined) continue;
      this.#addSwaps({ poolAddress, start, largest: [] });
      hours.push({ poolAddress, start });
    }
    if (buckets.length === 0 && hours.length === 0) return;
    const chainId = this.#chainId;
    const [rollups, largest] = await Promise.all([
      getV2Rollups(this.#store, { chainId, buckets }),
      getLargeSwaps(this.#store, { chainId, hours }),
    ]);
    for (const row of rollups) {
      const { poolAddress, span, start } = row;
      this.#addBucket({ poolAddress, span, start, bucket: readRollup(row) });
    }
    for (const { poolAddress, start, swaps: stored } of largest)
      this.#addSwaps({ poolAddress, start, largest: stored as readonly LargeSwap[] });
  }

  /** Adds a swap. `prepare` must have loaded its rows. */
  add(swap: V2SwapRow): void {
    const { poolAddress, time } = swap;
    for (const span of V2_SPANS) {
      const cached = this.#buckets.get(poolAddress, bucketKey(span, startOf(time, span)));
      if (cached === undefined) throw new Error(`The swaps of ${poolAddress} at ${time} were not loaded.`);
      countV2Swap(cached.bucket, swap);
      this.#dirtyBuckets.add(cached);
    }
    const cached = this.#swaps.get(poolAddress, startOf(time, HOUR)) as CachedLargeSwaps;
    const largest = withSwap(cached.largest, toLargeSwap(swap));
    if (largest === cached.largest) return;
    cached.largest = largest;
    this.#dirtySwaps.add(cached);
  }

  #addBucket(cached: CachedBucket): void {
    this.#buckets.set(cached.poolAddress, bucketKey(cached.span, cached.start), cached);
  }

  #addSwaps(cached: CachedLargeSwaps): void {
    this.#swaps.set(cached.poolAddress, cached.start, cached);
  }

  /** Returns the rows that changed since the last flush. */
  flush(): { rollups: V2RollupRow[]; largeSwaps: V2LargeSwapsRow[] } {
    const chainId = this.#chainId;
    const taken = {
      rollups: [...this.#dirtyBuckets].map(({ bucket, ...key }) => toRollup({ chainId, ...key }, bucket)),
      largeSwaps: [...this.#dirtySwaps].map(({ poolAddress, start, largest }) => ({
        chainId,
        poolAddress,
        start,
        swaps: largest,
      })),
    };
    this.#dirtyBuckets.clear();
    this.#dirtySwaps.clear();
    this.#buckets.age();
    this.#swaps.age();
    return taken;
  }

  /** Forgets the rows of pools that were rolled back in the store. */
  forget(pools: Iterable<string>): void {
    for (const pool of pools) {
      this.#buckets.forget(pool);
      this.#swaps.forget(pool);
    }
  }
}

/** A bucket as a stored row. */
export function toRollup(at: BucketKey & { chainId: number }, bucket: V2Bucket): V2RollupRow {
  const { chainId, poolAddress, span, start } = at;
  const { swapCount, unpricedCount, zeroForOneUsd, oneForZeroUsd, feesUsd, ...amounts } = bucket;
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
    amounts: v2AmountsText.write(amounts),
  };
}

export function readRollup(row: V2RollupRow): V2Bucket {
  const { swapCount, unpricedCount, zeroForOneUsd, oneForZeroUsd, feesUsd, amounts } = row;
  return {
    swapCount,
    unpricedCount,
    zeroForOneUsd,
    oneForZeroUsd,
    feesUsd,
    ...v2AmountsText.read(amounts),
  };
}

/** An hour and a day may start together. */
function bucketKey(span: number, start: number): number {
  return start * 2 + (span === HOUR ? 0 : 1);
}
