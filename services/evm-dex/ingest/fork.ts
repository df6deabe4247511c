import type { StoredBlock } from "../../shared/evm/port.ts";
import type { Store } from "../../shared/storage/port.ts";
import { type CheckpointRow, poolEvents } from "../store/collections.ts";

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

/** Null for a fork before the first indexed block: nothing of the index remains. */
export function withinIndex(
  fork: StoredBlock | undefined,
  { fromBlock }: Pick<CheckpointRow, "fromBlock">,
): StoredBlock | null | undefined {
  return fork === undefined || fork.number >= fromBlock - 1 ? fork : null;
}
