import { KEPT_HEADERS, lastOnChain, type StoredBlock, searchFork } from "../../shared/chain/evm/fork.ts";
import type { EvmSource } from "../../shared/chain/evm/port.ts";
import type { Store } from "../../shared/storage/port.ts";
import { type CheckpointRow, headers, unitHistory } from "../store/collections.ts";

/**
 * A block that the store and the chain have in common: the last one by the kept headers, and where the fork lies
 * deeper than those, the last one that states of units were recorded at; at the least block 0, which is kept for good.
 */
export async function findFork(
  store: Store,
  of: { source: EvmSource; checkpoint: CheckpointRow },
): Promise<StoredBlock> {
  const { source, checkpoint } = of;
  const { chainId } = checkpoint;
  const kept = await store.find(headers, { filter: { chainId } });
  const recent = kept.filter(({ number }) => number > checkpoint.blockNumber - KEPT_HEADERS);
  const below = recent[0]?.number ?? checkpoint.blockNumber + 1;
  const common =
    (await lastOnChain(source, recent)) ??
    (await searchFork(source, {
      low: 0,
      high: below - 1,
      async lastRow(range) {
        const [row] = await store.find(unitHistory, {
          filter: { chainId, block: { gte: range.low, lte: range.high } },
          order: [{ field: "block", direction: "desc" }],
          limit: 1,
          fields: ["block", "blockHash", "time"],
        });
        return row && { number: row.block, hash: row.blockHash, time: row.time };
      },
    })) ??
    kept.find(({ number }) => number === 0);
  if (common === undefined)
    throw new Error(`Chain ${chainId}: the store does not know block 0 of its chain.`);
  return { number: common.number, hash: common.hash, time: common.time };
}
