import { ReorgDetected } from "../../shared/chain-errors.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { SolanaSource } from "../chain/port.ts";
import { type BlockRow, blocks, type CheckpointRow, type FinalBlockRow } from "../store/collections.ts";
import type { DecodedBlock } from "./read/decoded-block.ts";
import { requireAgreement } from "./stalls.ts";

/**
 * Throws ReorgDetected unless each block is the child of the one before it, and the first one of the checkpoint. Every
 * block passes here before it is written, wherever it was read from.
 */
export function checkLinks(read: readonly DecodedBlock[], checkpoint: CheckpointRow): void {
  let before: Pick<DecodedBlock, "slot" | "blockhash"> = checkpoint;
  for (const block of read) {
    checkFollows(block, { before, checkpoint });
    before = block;
  }
}

function checkFollows(
  block: DecodedBlock,
  at: { before: Pick<DecodedBlock, "slot" | "blockhash">; checkpoint: CheckpointRow },
): void {
  const { before, checkpoint } = at;
  const { slot, blockhash, parentSlot, previousBlockhash } = block;
  if (before.slot < checkpoint.fromSlot) {
    if (slot === checkpoint.fromSlot && blockhash === checkpoint.fromBlockhash) return;
    throw new ReorgDetected(
      `The index begins with block ${checkpoint.fromBlockhash} in slot ${checkpoint.fromSlot}, not with ${blockhash} in slot ${slot}.`,
    );
  }
  if (slot > parentSlot && parentSlot === before.slot && previousBlockhash === before.blockhash) return;
  throw new ReorgDetected(
    `Slot ${slot} follows on slot ${parentSlot} (${previousBlockhash}), not on slot ${before.slot} (${before.blockhash}).`,
  );
}

/**
 * The last indexed slot whose block the cluster still has, at or above the last final one; the slot before the first
 * indexed one where none is indexed. Throws IngestStalled where all endpoints contradict the final block, and Error where
 * they do not say enough to know.
 */
export async function findCommonSlot(
  store: Store,
  {
    source,
    checkpoint,
    final,
  }: { source: Pick<SolanaSource, "link" | "recheck">; checkpoint: CheckpointRow; final: FinalBlockRow },
): Promise<number> {
  for (const { slot, blockhash } of await storedBlocks(store, { from: final.slot, to: checkpoint.slot })) {
    const link = await source.link(slot, "confirmed");
    if (link?.blockhash === blockhash) return slot;
  }
  await requireAgreement(source);
  if (checkpoint.slot < checkpoint.fromSlot) return checkpoint.slot;
  throw new Error(
    `No endpoint shows where the chain leaves the indexed slots ${final.slot} to ${checkpoint.slot}, of which the first is final.`,
  );
}

/** The last first. */
function storedBlocks(store: Store, { from, to }: { from: number; to: number }): Promise<BlockRow[]> {
  return store.find(blocks, {
    filter: { slot: { gte: from, lte: to } },
    order: [{ field: "slot", direction: "desc" }],
  });
}
