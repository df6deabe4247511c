import type { Knowledge } from "../../shared/evm/finality/finality.ts";
import { findCommonBlock, type StoredBlock } from "../../shared/evm/finality/fork.ts";
import type { EvmSource } from "../../shared/evm/port.ts";
import { headers } from "../../shared/index/evm/headers.ts";
import type { Store } from "../../shared/storage/port.ts";
import { type CheckpointRow, poolEvents } from "../store/collections.ts";

/**
 * The last block that the store and the chain have in common: by the kept headers, and where the fork lies deeper than
 * those, by the block hashes that event rows carry; at the least the index's final block. Null where that lies before the
 * index, of which nothing is left then. Undefined where the endpoints are behind the final block. Throws ReorgDetected where
 * they contradict it.
 */
export async function findFork(
  store: Store,
  of: { source: EvmSource; checkpoint: CheckpointRow; final: StoredBlock },
): Promise<StoredBlock | null | undefined> {
  const { source, checkpoint, final } = of;
  const { chainId, blockNumber, blockHash, blockTime, fromBlock } = checkpoint;
  const kept = await store.find(headers, { filter: { chainId, number: { lt: blockNumber } } });
  const common = await findCommonBlock(source, {
    final,
    known: [{ number: blockNumber, hash: blockHash, time: blockTime }, ...kept],
    lastRow: (range) => findLastRow(store, { chainId, ...range }),
  });
  return common === undefined || common.number >= fromBlock - 1 ? common : null;
}

/** The block of the last event between two blocks, inclusive. */
export async function findLastRow(
  store: Store,
  { chainId, low, high }: { chainId: number; low: number; high: number },
): Promise<StoredBlock | undefined> {
  const [row] = await store.find(poolEvents, {
    filter: { chainId, blockNumber: { lte: high, gte: low } },
    order: [{ field: "blockNumber", direction: "desc" }],
    limit: 1,
    fields: ["blockNumber", "blockHash", "time"],
  });
  return row && { number: row.blockNumber, hash: row.blockHash, time: row.time };
}

/** What endpoints are held against. */
export function knowledgeOf(
  store: Store,
  { chainId, genesisHash }: Pick<CheckpointRow, "chainId" | "genesisHash">,
): Knowledge {
  return { genesisHash, findKnown: (high) => findLastRow(store, { chainId, low: 0, high }) };
}
