import type { Store } from "../../shared/storage/port.ts";
import { HOUR, startOf } from "../metrics/bucket.ts";
import type { LargeSwap } from "../metrics/large-swaps.ts";
import { emptyV2Bucket, type V2Bucket } from "../metrics/v2-bucket.ts";
import { protocolOf } from "../protocols/index.ts";
import { eventsSince } from "../store/queries.ts";
import { countV2Swap, largestOfRows, toV2Swap } from "./v2-swap.ts";
import type { ViewQuery } from "./view.ts";

/** The hour that holds an earlier block, up to that block: its stored bucket holds later swaps too. */
export interface OpenHour {
  readonly bucket: Readonly<V2Bucket> & { readonly start: number };
  readonly largest: readonly LargeSwap[];
}

/** From the hour's swaps; undefined at the head, whose stored bucket is that. */
export async function readOpenHour(
  store: Store,
  { pool, checkpoint, isPast }: ViewQuery,
): Promise<OpenHour | undefined> {
  if (!isPast) return undefined;
  const { chainId, poolAddress } = pool;
  const start = startOf(checkpoint.blockTime, HOUR);
  const hour = { chainId, poolAddress, time: start, before: checkpoint.blockTime + 1 };
  const protocol = protocolOf(pool.protocol);
  const swaps = (await eventsSince(store, hour))
    .filter((event) => event.blockNumber <= checkpoint.blockNumber)
    .flatMap((event) => toV2Swap(event, protocol) ?? []);
  const bucket = emptyV2Bucket();
  for (const swap of swaps) countV2Swap(bucket, swap);
  return { bucket: { ...bucket, start }, largest: largestOfRows(swaps) };
}

/** The rows of hours with `open` in place of its own. */
export function withOpenHour<R extends { readonly start: number }>(
  rows: readonly R[],
  open: R | undefined,
): R[] {
  return open === undefined ? [...rows] : [...rows.filter(({ start }) => start < open.start), open];
}
