import type { TakenRows } from "../../../shared/storage/row-list.ts";
import type { PoolEventRow } from "../../store/collections.ts";
import type { BucketBook, UserSwap } from "./bucket-book.ts";
import type { TakenSwaps } from "./uncounted-swaps.ts";

/** What an event's row has once its swap is counted; until then, in the first of them, the swap's number. */
export const COUNTED_FIELDS = ["previousMinute", "previousUsers"] as const;
export type CountedField = (typeof COUNTED_FIELDS)[number];

/** Swaps whose users and buckets are looked up together. More of them share round trips, and take more memory. */
const PART = 2_048;

interface CountOptions {
  readonly book: BucketBook;
  /** The swaps' rows, which are told what the swaps end. */
  readonly events: Pick<TakenRows<PoolEventRow, CountedField>, "tell">;
  /** All but tests use the default. */
  readonly partSize?: number;
}

/** Some pools with all their swaps. */
interface Part {
  readonly swaps: UserSwap[];
  readonly numbers: number[];
  readonly lastTimes: Map<string, number>;
}

/**
 * Adds swaps to users and buckets, some pools at a time: a swap changes those of its own pool alone, so no more of them need be in
 * memory. What the book flushed before must be written.
 */
export async function countSwaps(
  taken: TakenSwaps,
  { partSize = PART, ...options }: CountOptions,
): Promise<void> {
  let part = emptyPart();
  for (const { poolAddress, lastTime, numbers } of taken.byPool()) {
    part.lastTimes.set(poolAddress, lastTime);
    for (const number of numbers) {
      part.numbers.push(number);
      part.swaps.push(taken.swapOf(number, poolAddress));
    }
    if (part.swaps.length < partSize) continue;
    await countPart(part, options);
    part = emptyPart();
  }
  if (part.swaps.length > 0) await countPart(part, options);
  taken.release();
}

async function countPart(
  { swaps, numbers, lastTimes }: Part,
  { book, events }: Omit<CountOptions, "partSize">,
): Promise<void> {
  await book.prepare(swaps, (pool) => lastTimes.get(pool) as number);
  for (let i = 0; i < swaps.length; i++) {
    const { minute, users } = book.add(swaps[i] as UserSwap);
    events.tell(numbers[i] as number, { previousMinute: minute, previousUsers: users });
  }
  book.collect();
}

function emptyPart(): Part {
  return { swaps: [], numbers: [], lastTimes: new Map() };
}
