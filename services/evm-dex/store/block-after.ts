import type { Store } from "../../shared/storage/port.ts";
import type { poolEvents } from "./collections.ts";
import type { lpEvents } from "./v2-collections.ts";

/** Rows with a block and its time. */
export type Clock = typeof poolEvents | typeof lpEvents;

/** The block after the last row before a time, from `low` up to `high`. */
export async function blockAfter(
  store: Store,
  at: { clock: Clock; chainId: number; time: number; low: number; high: number },
): Promise<number> {
  const { chainId, clock, time } = at;
  let { low, high } = at;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [next] = await store.find(clock, {
      filter: { chainId, blockNumber: { gte: middle, lt: high } },
      order: [{ field: "blockNumber", direction: "asc" }],
      limit: 1,
      fields: ["blockNumber", "time"],
    });
    if (next === undefined || next.time >= time) high = middle;
    else low = next.blockNumber + 1;
  }
  return low;
}
