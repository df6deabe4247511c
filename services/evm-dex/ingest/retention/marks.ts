import type { Guard } from "../../../shared/storage/lease.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { getRetention, type RetentionRow, retentions } from "../../store/retention.ts";

interface MarkDeps {
  readonly store: Store;
  readonly guard: Guard;
  readonly chainId: number;
}

/** As stored; from `since` where nothing was removed, or older history has been indexed meanwhile. */
export async function openRetention(
  { chainId, store }: MarkDeps,
  { checkpoint, rows, since }: { checkpoint: CheckpointRow; rows: string; since: number },
): Promise<RetentionRow> {
  const { fromBlock } = checkpoint;
  const stored = await getRetention(store, { chainId, rows });
  if (stored !== undefined && stored.fromBlock <= fromBlock) return stored;
  const announced = { time: stored?.time ?? since, blockNumber: stored?.blockNumber ?? 0 };
  return { chainId, rows, fromBlock, goneTime: since, goneBlock: 0, ...announced };
}

export async function mark({ guard, store }: MarkDeps, row: RetentionRow): Promise<void> {
  await store.write([...guard(), put(retentions, [row])]);
}
