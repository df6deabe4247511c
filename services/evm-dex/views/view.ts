import { ServiceError } from "../../shared/errors.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { Protocol } from "../protocols/protocol.ts";
import type { CheckpointRow, PoolRow } from "../store/collections.ts";

/**
 * All that one kind of endpoint tells of one pool. Serving reads it when it is asked for; the ingest may read it ahead
 * for a pool that is likely to be asked for: neither knows the other, both know views.
 */
export interface PoolView<R extends object = object> {
  /** Names the view in snapshots: two views never share a name. */
  readonly name: string;
  /** Of which pools it can tell: the states of others are no states to it. */
  readonly generation: Protocol["generation"];
  /** The row at the checkpoint, by column. Throws ServiceError not_found where the pool has nothing to tell yet. */
  read(store: Store, query: { pool: PoolRow; checkpoint: CheckpointRow }): Promise<R>;
}

/** A pool of which nothing is known yet. */
export function createNoDataError(pool: PoolRow, checkpoint: CheckpointRow): ServiceError {
  return new ServiceError(
    "not_found",
    pool.createdBlock < checkpoint.fromBlock
      ? `Pool ${pool.poolAddress} exists, but has had no event since block ${checkpoint.fromBlock}, where the index begins, and is not read yet.`
      : `Pool ${pool.poolAddress} exists, but has had no event yet.`,
  );
}
