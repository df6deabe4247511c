import type { Store } from "../../../shared/storage/port.ts";
import { DAY, HOUR, startOf } from "../../metrics/bucket.ts";
import { type LargeSwap, withSwap } from "../../metrics/large-swaps.ts";
import { emptyV2Bucket, type V2Bucket, v2AmountsText } from "../../metrics/v2-bucket.ts";
import type { V2LargeSwapsRow, V2RollupRow } from "../../store/v2-collections.ts";
import { getLargeSwaps, getV2Rollups, type V2BucketKey } from "../../store/v2-queries.ts";
import { countV2Swap, toLargeSwap, type V2SwapRow } from "./v2-swap.ts";

/** Spans of a v2 pool's rollups. */
export const V2_SPANS = [HOUR, DAY] as const;

/** Rows kept in memory between writes; beyond it all go, since what is written can be loaded again. */
const KEEP_ROWS = 20_000;

interface Held {
  readonly key: V2BucketKey;
  readonly bucket: V2Bucket;
}

interface HeldSwaps {
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
  readonly #buckets = new Map<string, Held>();
  readonly #swaps = new Map<string, HeldSwaps>();
  readonly #dirtyBuckets = new Set<Held>();
  readonly #dirtySwaps = new Set<HeldSwaps>();

  constructor(store: Store, chainId: number) {
    this.#store = store;
    this.#chainId = chainId;
  }

  /** Loads everything that adding these swaps will change. */
  async prepare(swaps: readonly { poolAddress: string; time: number }[]): Promise<void> {
    const buckets = new Map<string, V2BucketKey>();
    const hours = new Map<string, { poolAddress: string; start: number }>();
    for (const { poolAddress, time } of swaps) {
      for (const span of V2_SPANS) {
        const key = { poolAddress, span, start: startOf(time, span) };
        if (!this.#buckets.has(textOf(key))) buckets.set(textOf(key), key);
      }
      const hour = { poolAddress, start: startOf(time, HOUR) };
      if (!this.#swaps.has(hourOf(hour))) hours.set(hourOf(hour), hour);
    }
    if (buckets.size === 0 && hours.size === 0) return;
    const chainId = this.#chainId;
    const [rollups, largest] = await Promise.all([
      getV2Rollups(this.#store, { chainId, buckets: [...buckets.values()] }),
      getLargeSwaps(this.#store, { chainId, hours: [...hours.values()] }),
    ]);
    for (const row of rollups) this.#buckets.set(textOf(row), { key: row, bucket: readRollup(row) });
    for (const { poolAddress, start, swaps: stored } of largest) {
      const held = { poolAddress, start, largest: stored as readonly LargeSwap[] };
      this.#swaps.set(hourOf(held), held);
    }
  }

  add(swap: V2SwapRow): void {
    const { poolAddress, time } = swap;
    for (const span of V2_SPANS) {
      const key = { poolAddress, span, start: startOf(time, span) };
      const held = heldIn(this.#buckets, textOf(key), () => ({ key, bucket: emptyV2Bucket() }));
      countV2Swap(held.bucket, swap);
      this.#dirtyBuckets.add(held);
    }
    const hour = { poolAddress, start: startOf(time, HOUR) };
    const held = heldIn(this.#swaps, hourOf(hour), (): HeldSwaps => ({ ...hour, largest: [] }));
    const largest = withSwap(held.largest, toLargeSwap(swap));
    if (largest === held.largest) return;
    held.largest = largest;
    this.#dirtySwaps.add(held);
  }

  /** What changed since the last take. */
  take(): { rollups: V2RollupRow[]; largeSwaps: V2LargeSwapsRow[] } {
    const chainId = this.#chainId;
    const taken = {
      rollups: [...this.#dirtyBuckets].map(({ key, bucket }) => toRollup({ chainId, ...key }, bucket)),
      largeSwaps: [...this.#dirtySwaps].map(({ poolAddress, start, largest }) => ({
        chainId,
        poolAddress,
        start,
        swaps: largest,
      })),
    };
    this.#dirtyBuckets.clear();
    this.#dirtySwaps.clear();
    if (this.#buckets.size + this.#swaps.size > KEEP_ROWS) {
      this.#buckets.clear();
      this.#swaps.clear();
    }
    return taken;
  }
}

/** A bucket as it is stored. */
export function toRollup(at: V2BucketKey & { chainId: number }, bucket: V2Bucket): V2RollupRow {
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

function textOf({ poolAddress, span, start }: V2BucketKey): string {
  return `${poolAddress}:${span}:${start}`;
}

function hourOf({ poolAddress, start }: { poolAddress: string; start: number }): string {
  return `${poolAddress}:${start}`;
}

function heldIn<H>(map: Map<string, H>, key: string, create: () => H): H {
  let held = map.get(key);
  if (held === undefined) {
    held = create();
    map.set(key, held);
  }
  return held;
}
