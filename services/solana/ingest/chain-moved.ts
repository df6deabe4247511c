import type { Store } from "../../shared/storage/port.ts";
import { type BlockRow, blocks, type CheckpointRow } from "../store/collections.ts";
import type { BlockReader, ReadBlock } from "./read/read-block.ts";

/** What is to come does not follow on what is indexed: blocks that were only confirmed have been dropped. */
export class ChainMoved extends Error {
  override readonly name = "ChainMoved";
}

/** The store holds an index of another cluster than the one the endpoints serve. */
export class OtherCluster extends Error {
  override readonly name = "OtherCluster";
  constructor(what: string) {
    super(`${what} Point DATA_DIR or MONGODB_URL to another store, or SOLANA_RPC to the right cluster.`);
  }
}

/** Throws ChainMoved unless the block follows on what is indexed. */
export function checkFollows(block: ReadBlock, checkpoint: CheckpointRow): void {
  const { slot, parentSlot, previousBlockhash } = block;
  if (checkpoint.slot < checkpoint.fromSlot) {
    if (slot === checkpoint.fromSlot && block.blockhash === checkpoint.fromBlockhash) return;
    throw new OtherCluster(
      `The index begins with block ${checkpoint.fromBlockhash} in slot ${checkpoint.fromSlot}, the endpoints have ${block.blockhash} in slot ${slot}.`,
    );
  }
  if (parentSlot === checkpoint.slot && previousBlockhash === checkpoint.blockhash) return;
  throw new ChainMoved(
    `Slot ${slot} follows on slot ${parentSlot} (${previousBlockhash}), not on slot ${checkpoint.slot} (${checkpoint.blockhash}).`,
  );
}

/** Slots read at once while going back: forks of confirmed blocks are short, and blocks large. */
const STEP = 4;

/**
 * The last indexed slot whose block the cluster still has, at or above the last final one; the slot before the first
 * indexed one where none is. Throws OtherCluster where the final one is not on the chain.
 */
export async function findCommonSlot(
  store: Store,
  { reader, checkpoint }: { reader: BlockReader; checkpoint: CheckpointRow },
): Promise<number> {
  const lowest = Math.max(checkpoint.fromSlot, Math.min(checkpoint.finalizedSlot, checkpoint.slot));
  for (let to = checkpoint.slot; to >= checkpoint.fromSlot; to -= STEP) {
    const fromSlot = Math.max(checkpoint.fromSlot, to - STEP + 1);
    const range = { fromSlot, toSlot: to } as const;
    const onChain = await reader.blocks({ ...range, commitment: "confirmed" });
    const common = (await storedBlocks(store, range)).find((row) => isAmong(row, onChain));
    if (common !== undefined && common.slot >= lowest) return common.slot;
    if (fromSlot <= lowest) break;
  }
  if (checkpoint.finalizedSlot < checkpoint.fromSlot) return checkpoint.fromSlot - 1;
  throw new OtherCluster(
    `The index has final blocks up to slot ${Math.min(checkpoint.finalizedSlot, checkpoint.slot)} that the endpoints do not have.`,
  );
}

/** The last first. */
function storedBlocks(store: Store, range: { fromSlot: number; toSlot: number }): Promise<BlockRow[]> {
  return store.find(blocks, {
    filter: { slot: { gte: range.fromSlot, lte: range.toSlot } },
    order: [{ field: "slot", direction: "desc" }],
  });
}

function isAmong(row: BlockRow, onChain: readonly ReadBlock[]): boolean {
  return onChain.some(({ slot, blockhash }) => slot === row.slot && blockhash === row.blockhash);
}
