import type { Store } from "../../../shared/storage/port.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { getPool } from "../../store/queries.ts";
import { supports } from "../../views/index.ts";
import type { PoolView } from "../../views/view.ts";
import { readAtHead } from "../head.ts";

export interface PoolKey {
  readonly chainId: number;
  readonly poolAddress: string;
  /** A pool of another family or generation is not found: each path serves its own DEXes. */
  readonly family: string;
}

/** Reads a view of one pool at one block; undefined where the family has no such pool of its generation. */
export async function readPool<R extends object>(
  store: Store,
  {
    view,
    key,
    seen,
  }: { view: PoolView<R>; key: PoolKey; seen?: (checkpoint: CheckpointRow, startedMs: number) => void },
): Promise<{ checkpoint: CheckpointRow; row: R } | undefined> {
  const pool = await getPool(store, key);
  if (pool === undefined || pool.family !== key.family || !supports(view, pool)) return undefined;
  const found = await readAtHead(store, {
    chainId: key.chainId,
    inSnapshot: true,
    read: (checkpoint, snapshot) => view.read(snapshot, { pool, checkpoint }),
    ...(seen && { seen }),
  });
  return found && { checkpoint: found.checkpoint, row: found.value };
}
