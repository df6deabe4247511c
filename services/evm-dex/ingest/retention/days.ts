import type { Store } from "../../../shared/storage/port.ts";
import { DAY, startOf } from "../../metrics/bucket.ts";
import { blockAfter, type Clock } from "../../store/block-after.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import type { DayBlocks } from "./raw-collections.ts";

/** Where a walk over days stands, and how far it goes. */
export interface DayWalk {
  readonly clock: Clock;
  readonly checkpoint: CheckpointRow;
  readonly finalBlock: number;
  /** Unix seconds, the start of a UTC day. */
  readonly bound: number;
  readonly goneTime: number;
  readonly goneBlock: number;
}

/** The next UTC day that has rows, with those without any before it. */
export async function nextDayBlocks(
  store: Store,
  { clock, checkpoint, finalBlock, bound, goneTime, goneBlock }: DayWalk,
): Promise<DayBlocks> {
  const { chainId } = checkpoint;
  const time = await nextDay(store, { chainId, clock, after: goneTime, fromBlock: goneBlock, bound });
  // The links of the block before the first one belong to its day.
  const low = Math.max(goneBlock, checkpoint.fromBlock);
  const block = await blockAfter(store, { clock, chainId, time, low, high: finalBlock + 1 });
  return { fromBlock: goneBlock, toBlock: block, fromTime: goneTime, toTime: time };
}

/** The end of the next UTC day that has rows: days without any are passed over at once. */
async function nextDay(
  store: Store,
  {
    after,
    bound,
    chainId,
    clock,
    fromBlock,
  }: { chainId: number; clock: Clock; after: number; bound: number; fromBlock: number },
): Promise<number> {
  // The first day has the links of the start beside its events.
  if (fromBlock === 0) return Math.min(bound, after + DAY);
  const [next] = await store.find(clock, {
    filter: { chainId, blockNumber: { gte: fromBlock } },
    order: [{ field: "blockNumber", direction: "asc" }],
    limit: 1,
    fields: ["time"],
  });
  const day = startOf(Math.max(after, next?.time ?? bound), DAY);
  return Math.min(bound, day + DAY);
}
