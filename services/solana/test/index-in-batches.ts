import type { Store } from "../../shared/storage/port.ts";
import type { TimedBlock } from "../ingest/timed-block.ts";
import { openTestStore } from "./store.ts";
import { TestIndex } from "./test-index.ts";

/** Stores blocks in batches of these sizes, again and again, each third one by another indexer. */
export async function indexInBatches(
  blocks: readonly TimedBlock[],
  sizes: readonly number[],
  into?: Store,
): Promise<Store> {
  const store = into ?? (await openTestStore());
  const { slot, time } = blocks[0] as TimedBlock;
  let index = await TestIndex.open(store, { slot, time });
  for (let at = 0, n = 0; at < blocks.length; n++) {
    const size = sizes[n % sizes.length] as number;
    if (n % 3 === 2) {
      const { checkpoint } = index;
      index = await TestIndex.open(store, { slot, time });
      index.checkpoint = checkpoint;
    }
    await index.apply(blocks.slice(at, at + size));
    at += size;
  }
  return store;
}
