import type { StoredBlock } from "../../shared/evm/port.ts";
import type { Store } from "../../shared/storage/port.ts";
import { entityHistory } from "../store/collections.ts";

/** The last block between two, inclusive, at which an entity's state was recorded. */
export async function findLastState(
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
