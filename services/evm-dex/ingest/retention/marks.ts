import type { Guard } from "../../../shared/storage/lease.ts";
import { put, type Store, type WriteStep } from "../../../shared/storage/port.ts";
import { DAY, startOf } from "../../metrics/bucket.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { getRetention, type RetentionRow, retentions } from "../../store/retention.ts";
import { RAW_COLLECTIONS } from "./raw-collections.ts";

interface MarkDeps {
  readonly store: Store;
  readonly guard: Guard;
  readonly chainId: number;
}

/** As stored; from `since` where nothing was removed, or older history has been indexed meanwhile. */
export async function openRetention(
  { chainId, store }: Pick<MarkDeps, "chainId" | "store">,
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

/**
 * Says of the rows before the index that they are gone, before history is merged without them: else an answer about one of its
 * blocks would stand on the last ones alone. Retention goes on from there.
 */
export async function announceGone(
  deps: Pick<MarkDeps, "chainId" | "store">,
  checkpoint: CheckpointRow,
): Promise<WriteStep[]> {
  const { fromBlock, fromTime } = checkpoint;
  const raw = RAW_COLLECTIONS.filter(({ leastSeconds }) => leastSeconds === 0);
  const rows = await Promise.all(
    raw.map(async ({ collection: { name } }) => {
      const row = await openRetention(deps, { rows: name, checkpoint, since: startOf(fromTime, DAY) });
      const { time, blockNumber } = row;
      return { ...row, time: Math.max(time, fromTime), blockNumber: Math.max(blockNumber, fromBlock) };
    }),
  );
  return [put(retentions, rows)];
}
