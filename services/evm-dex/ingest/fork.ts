import type { EvmSource } from "../../shared/chain/evm/port.ts";
import type { Store } from "../../shared/storage/port.ts";
import { type CheckpointRow, headers, poolEvents } from "../store/collections.ts";
import type { RollbackTarget } from "./undo/removed.ts";

/**
 * The last block that the store and the chain have in common: by the kept headers, and where the fork lies deeper
 * than those, by the block hashes that event rows carry. Null where the two share nothing, not even the start.
 */
export async function findFork(
  store: Store,
  of: { source: EvmSource; checkpoint: CheckpointRow },
): Promise<RollbackTarget | null> {
  const { source, checkpoint } = of;
  const { chainId } = checkpoint;
  const kept = await store.find(headers, {
    filter: { chainId },
    order: [{ field: "number", direction: "desc" }],
  });
  const onChain = await source.headers(kept.map((row) => row.number));
  const common = kept.find((row, i) => onChain[i]?.hash === row.hash);
  if (common !== undefined) return common;
  const below = kept.at(-1)?.number ?? checkpoint.blockNumber + 1;
  return findForkByRows(store, { ...of, below });
}

/** Whether a row's block is on the chain is true up to the fork and false after it: a binary search. */
async function findForkByRows(
  store: Store,
  of: { source: EvmSource; checkpoint: CheckpointRow; below: number },
): Promise<RollbackTarget | null> {
  const { source, checkpoint } = of;
  const { chainId } = checkpoint;
  let common: RollbackTarget | null = null;
  let low = checkpoint.fromBlock;
  let high = of.below - 1;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const [row] = await store.find(poolEvents, {
      filter: { chainId, blockNumber: { lte: middle, gte: low } },
      order: [{ field: "blockNumber", direction: "desc" }],
      limit: 1,
      fields: ["blockNumber", "blockHash", "time"],
    });
    if (row === undefined) {
      low = middle + 1;
      continue;
    }
    const [header] = await source.headers([row.blockNumber]);
    if (header?.hash === row.blockHash) {
      common = { number: row.blockNumber, hash: row.blockHash, time: row.time };
      low = middle + 1;
    } else high = row.blockNumber - 1;
  }
  return common;
}
