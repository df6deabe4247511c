import { addSwap, type Bucket, emptyBucket } from "./bucket.ts";
import type { BucketTotals } from "./pool-windows.ts";
import type { Edge } from "./window.ts";

/** A stored swap of the minute that a window begins within. */
export interface EdgeSwap {
  /** Unix seconds. */
  readonly time: number;
  /** tx.from. */
  readonly sender: string;
  readonly valueUsd: number | null;
  readonly feeUsd: number | null;
  readonly tickTravel: number | null;
}

interface EdgeMinute {
  /** The minute's bucket, which outlives its swaps; undefined where the pool had none. */
  readonly bucket: Pick<Bucket, "swapCount"> | undefined;
  /** The swaps of the whole minute that are still stored. */
  readonly swaps: readonly EdgeSwap[];
  /** Users whose latest swap in this pool lies in the minute. */
  readonly lastUsers: ReadonlySet<string>;
}

/**
 * The totals of an edge. Undefined where not every swap of its minute is stored any more: the bucket says how many
 * there were. A user of `lastUsers` is counted if one of the swaps from the edge on is theirs: then the latest is.
 */
export function totalsOfEdge(edge: Edge, { bucket, swaps, lastUsers }: EdgeMinute): BucketTotals | undefined {
  if (swaps.length !== (bucket?.swapCount ?? 0)) return undefined;
  const totals = emptyBucket();
  const users = new Set<string>();
  for (const swap of swaps) {
    if (swap.time < edge.start) continue;
    const { valueUsd, feeUsd, tickTravel } = swap;
    addSwap(totals, { valueUsd, feeUsd, tickTravel: tickTravel ?? 0, closePrice: 0 });
    if (lastUsers.has(swap.sender)) users.add(swap.sender);
  }
  totals.lastSeenUsers = users.size;
  return totals;
}
