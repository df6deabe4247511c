import type { Store } from "../../shared/storage/port.ts";
import { HOUR } from "../metrics/bucket.ts";
import { type PoolEventRow, poolEvents } from "../store/collections.ts";
import { eventsSince, OLDEST_FIRST } from "../store/queries.ts";

/** A span of time that ends with an hour with events; the last one has none and never ends. */
export interface HourWindow {
  /** Unix seconds, the end excluded. Both are whole hours. */
  readonly from: number;
  readonly to: number;
  readonly rows: readonly PoolEventRow[];
}

/**
 * A pool's events from a whole hour on, an hour at a time. The windows leave no gap, so that rows of hours in which nothing happened are
 * seen too.
 */
export async function* hourWindows(
  store: Store,
  { chainId, poolAddress, since }: { chainId: number; poolAddress: string; since: number },
): AsyncGenerator<HourWindow> {
  const key = { chainId, poolAddress };
  for (let from = since; ; ) {
    const [next] = await store.find(poolEvents, {
      filter: { ...key, time: { gte: from } },
      order: OLDEST_FIRST,
      limit: 1,
      fields: ["time"],
    });
    if (next === undefined) {
      yield { from, to: Number.MAX_SAFE_INTEGER, rows: [] };
      return;
    }
    const start = next.time - (next.time % HOUR);
    const to = start + HOUR;
    yield { from, to, rows: await eventsSince(store, { ...key, time: start, before: to }) };
    from = to;
  }
}
