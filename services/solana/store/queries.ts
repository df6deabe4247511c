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

/** The last blocks up to a slot, oldest first. */
export async function readRecentBlocks(
  store: Store,
  { slot, count }: { readonly slot: number; readonly count: number },
): Promise<{ block: number; hash: string }[]> {
  const rows = await store.find(blocks, {
    filter: { slot: { lte: slot } },
    order: [{ field: "slot", direction: "desc" }],
    limit: count,
    fields: ["slot", "blockhash"],
  });
  return rows.reverse().map((row) => ({ block: row.slot, hash: row.blockhash }));
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
