import type { Store } from "../../shared/storage/port.ts";
import { type BlockRow, blocks, blockTimes, type CheckpointRow, checkpoints } from "./collections.ts";

/** Solana's number where chains have ids. */
export const CHAIN_ID = 0;

export function getCheckpoint(store: Store): Promise<CheckpointRow | undefined> {
  return store.get(checkpoints, { chainId: CHAIN_ID });
}

/** Only the last blocks are stored. */
export function getBlock(store: Store, slot: number): Promise<BlockRow | undefined> {
  return store.get(blocks, { slot });
}

/** The first indexed slot whose time is `time` (Unix seconds) or later. */
export async function firstSlotFrom(store: Store, time: number): Promise<number | undefined> {
  const [row] = await store.find(blockTimes, {
    filter: { time: { gte: time } },
    order: [{ field: "time", direction: "asc" }],
    limit: 1,
  });
  return row?.firstSlot;
}
