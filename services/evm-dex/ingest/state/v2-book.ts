import type { Store } from "../../../shared/storage/port.ts";
import { DAY, HOUR, startOf } from "../../metrics/bucket.ts";
import { type LargeSwap, withSwap } from "../../metrics/large-swaps.ts";
import { emptyV2Bucket, type V2Bucket, v2AmountsText } from "../../metrics/v2-bucket.ts";
import type { BucketKey } from "../../store/queries.ts";
import type { V2LargeSwapsRow, V2RollupRow } from "../../store/v2-collections.ts";
import { getLargeSwaps, getV2Rollups } from "../../store/v2-queries.ts";
import { countV2Swap, toLargeSwap, type V2SwapRow } from "./v2-swap.ts";

/** Spans of a v2 pool's rollups. */
export const V2_SPANS = [HOUR, DAY] as const;

/** Most rows kept in memory between writes; beyond it all are dropped, since written rows can be loaded again. */
const MAX_ROWS = 20_000;

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

/** The cached rows of one pool. Nested maps: building composite keys would cost more than the lookup. */
interface PoolRows {
  /** By start; an hour and a day may start together. */
  readonly hours: Map<number, CachedBucket>;
  readonly days: Map<number, CachedBucket>;
  /** By start. */
  readonly swaps: Map<number, CachedLargeSwaps>;
}

/**
 * Hours and days of one chain's v2 pools and the largest swaps of their hours, as absolute rows: loaded before they are
 * changed, written whole. Replaying a write is therefore harmless.
 */
export class V2Book {
  readonly #store: Store;
  readonly #chainId: number;
  readonly #pools = new Map<string, PoolRows>();
  #rowCount = 0;
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
      const rows = this.#rowsOf(poolAddress);
      for (const span of V2_SPANS) {
        const start = startOf(time, span);
        if (bucketsOf(rows, span).has(start)) continue;
        this.#addBucket({ poolAddress, span, start, bucket: emptyV2Bucket() });
        buckets.push({ poolAddress, span, start });
      }
      const start = startOf(time, HOUR);
      if (rows.swaps.has(start)) continue;
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
    const rows = this.#rowsOf(poolAddress);
    for (const span of V2_SPANS) {
      const cached = bucketsOf(rows, span).get(startOf(time, span));
      if (cached === undefined) throw new Error(`The swaps of ${poolAddress} at ${time} were not loaded.`);
      countV2Swap(cached.bucket, swap);
      this.#dirtyBuckets.add(cached);
    }
    const cached = rows.swaps.get(startOf(time, HOUR)) as CachedLargeSwaps;
    const largest = withSwap(cached.largest, toLargeSwap(swap));
    if (largest === cached.largest) return;
    cached.largest = largest;
    this.#dirtySwaps.add(cached);
  }

  #addBucket(cached: CachedBucket): void {
    bucketsOf(this.#rowsOf(cached.poolAddress), cached.span).set(cached.start, cached);
    this.#rowCount += 1;
  }

  #addSwaps(cached: CachedLargeSwaps): void {
    this.#rowsOf(cached.poolAddress).swaps.set(cached.start, cached);
    this.#rowCount += 1;
  }

  #rowsOf(poolAddress: string): PoolRows {
    let rows = this.#pools.get(poolAddress);
    if (rows === undefined) {
      rows = { hours: new Map(), days: new Map(), swaps: new Map() };
      this.#pools.set(poolAddress, rows);
    }
    return rows;
  }

  /** Drops a pool's rows; none of them may wait for a flush. */
  forget(poolAddress: string): void {
    const rows = this.#pools.get(poolAddress);
    if (rows === undefined) return;
    this.#pools.delete(poolAddress);
    this.#rowCount -= rows.hours.size + rows.days.size + rows.swaps.size;
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
    if (this.#rowCount > MAX_ROWS) {
      this.#pools.clear();
      this.#rowCount = 0;
    }
    return taken;
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

function bucketsOf(rows: PoolRows, span: number): Map<number, CachedBucket> {
  return span === HOUR ? rows.hours : rows.days;
}
