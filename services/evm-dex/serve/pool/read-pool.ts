import type { AsOf } from "../../../shared/contract/as-of.ts";
import type { DataVersion } from "../../../shared/contract/endpoint.ts";
import { ServiceError } from "../../../shared/errors.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { CheckpointRow, PoolRow } from "../../store/collections.ts";
import { getPool } from "../../store/queries.ts";
import { supports } from "../../views/index.ts";
import type { PoolView } from "../../views/view.ts";
import { readAtHead } from "../head.ts";
import { checkpointAt, pastVersionOf, resolvePastBlock } from "../past/past-block.ts";

export interface PoolKey {
  readonly chainId: number;
  readonly poolAddress: string;
  /** A pool of another family or generation is not found: each path serves its own DEXes. */
  readonly family: string;
}

async function findPool(
  store: Store,
  { view, key }: { view: PoolView; key: PoolKey },
): Promise<PoolRow | undefined> {
  const pool = await getPool(store, key);
  return pool?.family === key.family && supports(view, pool) ? pool : undefined;
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
  const pool = await findPool(store, { view, key });
  if (pool === undefined) return undefined;
  const found = await readAtHead(store, {
    chainId: key.chainId,
    inSnapshot: true,
    signal: undefined,
    read: (checkpoint, snapshot) => view.read(snapshot, { pool, checkpoint }),
    ...(seen && { seen }),
  });
  return found && { checkpoint: found.checkpoint, row: found.value };
}

/** The same at an earlier block. Throws not_found for a block that is not stored, and for a pool that was created later. */
export async function readPoolAt<R extends object>(
  store: Store,
  { view, key, asOf, signal }: { view: PoolView<R>; key: PoolKey; asOf: AsOf; signal: AbortSignal },
): Promise<{ version: DataVersion; row: R } | undefined> {
  const pool = await findPool(store.within(signal), { view, key });
  if (pool === undefined) return undefined;
  const found = await readAtHead(store, {
    chainId: key.chainId,
    inSnapshot: true,
    signal,
    async read(checkpoint, snapshot) {
      const block = await resolvePastBlock(snapshot, { checkpoint, asOf, needs: view.needs });
      if (pool.createdBlock > block.number) {
        throw new ServiceError(
          "not_found",
          `Pool ${pool.poolAddress} was created in block ${pool.createdBlock}, after block ${block.number}.`,
        );
      }
      const isPast = block.number < checkpoint.blockNumber;
      const query = { pool, checkpoint: checkpointAt(checkpoint, block), isPast };
      const version = await pastVersionOf(snapshot, { checkpoint, block });
      return { version, row: await view.read(snapshot, query) };
    },
  });
  return found?.value;
}
