import type { Store } from "../../shared/storage/port.ts";
import type { ChainAnchor } from "../chain/port.ts";
import { blocks, type CheckpointRow, type FinalBlockRow, finalBlocks } from "../store/collections.ts";
import { CHAIN_ID, getCheckpoint } from "../store/queries.ts";

/** The last final block of the index; from the checkpoint in a store that is older than this collection. */
export async function readFinalBlock(store: Store, checkpoint: CheckpointRow): Promise<FinalBlockRow> {
  const stored = await store.get(finalBlocks, { chainId: CHAIN_ID });
  if (stored !== undefined) return stored;
  const [last] = await store.find(blocks, {
    filter: { slot: { lte: Math.min(checkpoint.finalizedSlot, checkpoint.slot) } },
    order: [{ field: "slot", direction: "desc" }],
    limit: 1,
  });
  // The first indexed block was final when it was read.
  const { slot, blockhash } = last ?? { slot: checkpoint.fromSlot, blockhash: checkpoint.fromBlockhash };
  return { chainId: CHAIN_ID, slot, blockhash, genesisHash: null };
}

export function toAnchor({ slot, blockhash, genesisHash }: FinalBlockRow): ChainAnchor {
  return { final: { slot, blockhash }, ...(genesisHash !== null && { genesisHash }) };
}

/** Permanent facts of the indexed cluster; none before anything is indexed. */
export async function readAnchor(store: Store): Promise<ChainAnchor> {
  const checkpoint = await getCheckpoint(store);
  return checkpoint === undefined ? {} : toAnchor(await readFinalBlock(store, checkpoint));
}
