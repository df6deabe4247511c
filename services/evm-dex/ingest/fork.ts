import { lastOnChain, type StoredBlock, searchFork } from "../../shared/chain/evm/fork.ts";
import type { EvmSource } from "../../shared/chain/evm/port.ts";
import type { Store } from "../../shared/storage/port.ts";
import { type CheckpointRow, headers, poolEvents } from "../store/collections.ts";

/**
 * The last block that the store and the chain have in common: by the kept headers, and where the fork lies deeper
 * than those, by the block hashes that event rows carry. Null where the two share nothing, not even the start.
 */
export async function findFork(
  store: Store,
  of: { source: EvmSource; checkpoint: CheckpointRow },
): Promise<StoredBlock | null> {
  const { source, checkpoint } = of;
  const { chainId } = checkpoint;
  const kept = await store.find(headers, { filter: { chainId } });
  const common = await lastOnChain(source, kept);
  if (common !== undefined) return common;
  const below = kept[0]?.number ?? checkpoint.blockNumber + 1;
  return searchFork(source, {
    low: checkpoint.fromBlock,
    high: below - 1,
    async lastRow({ low, high }) {
      const [row] = await store.find(poolEvents, {
        filter: { chainId, blockNumber: { lte: high, gte: low } },
        order: [{ field: "blockNumber", direction: "desc" }],
        limit: 1,
        fields: ["blockNumber", "blockHash", "time"],
      });
      return row && { number: row.blockNumber, hash: row.blockHash, time: row.time };
    },
  });
}
