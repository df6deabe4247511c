import type { IndexIdentity } from "../../shared/evm/finality/finality.ts";
import { findCommonBlock, type StoredBlock } from "../../shared/evm/finality/fork.ts";
import type { EvmSource } from "../../shared/evm/port.ts";
import type { Store } from "../../shared/storage/port.ts";
import { type CheckpointRow, entityHistory, headers } from "../store/collections.ts";

/**
 * A block that the store and the chain have in common: the last one by the kept headers, and where the fork lies
 * deeper than those, the last one that states of units were recorded at; at the least the index's final block. Undefined
 * where the endpoints are behind that. Throws ReorgDetected where they contradict it.
 */
export async function findFork(
  store: Store,
  of: { source: EvmSource; checkpoint: CheckpointRow; final: StoredBlock },
): Promise<StoredBlock | undefined> {
  const { source, checkpoint, final } = of;
  const { chainId, blockNumber, blockHash, blockTime } = checkpoint;
  // On MongoDB, headers of a write that was interrupted may lie beyond the checkpoint.
  const kept = await store.find(headers, { filter: { chainId, number: { lt: blockNumber } } });
  return findCommonBlock(source, {
    final,
    known: [{ number: blockNumber, hash: blockHash, time: blockTime }, ...kept],
    lastRow: (range) => findLastState(store, { chainId, ...range }),
  });
}

/** The last block between two, inclusive, that a unit's state was recorded at. */
async function findLastState(
  store: Store,
  { chainId, low, high }: { chainId: number; low: number; high: number },
): Promise<StoredBlock | undefined> {
  const [row] = await store.find(entityHistory, {
    filter: { chainId, block: { gte: low, lte: high } },
    order: [{ field: "block", direction: "desc" }],
    limit: 1,
    fields: ["block", "blockHash", "time"],
  });
  return row && { number: row.block, hash: row.blockHash, time: row.time };
}

/** What endpoints are held against. */
export function knowledgeOf(
  store: Store,
  { chainId, genesisHash }: Pick<CheckpointRow, "chainId" | "genesisHash">,
): IndexIdentity {
  return { genesisHash, findKnown: (high) => findLastState(store, { chainId, low: 0, high }) };
}
