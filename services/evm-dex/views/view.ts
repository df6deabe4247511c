import { ServiceError } from "../../shared/errors.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { Protocol } from "../protocols/protocol.ts";
import type { CheckpointRow, PoolRow } from "../store/collections.ts";

/**
 * The row of one kind of endpoint for one pool. Serving reads it on request; the ingest may compute it ahead for a
 * pool that is likely to be requested. Both depend on views, not on each other.
 */
export interface PoolView<R extends object = object> {
  /** Name of the view in snapshots; unique. */
  readonly name: string;
  /** Generation of the pools that it supports. */
  readonly generation: Protocol["generation"];
  /** The row at the checkpoint, by column. Throws ServiceError not_found where the pool's state is not known yet. */
  read(store: Store, query: { pool: PoolRow; checkpoint: CheckpointRow }): Promise<R>;
}

/** The error for a pool whose state is not known yet. */
export function createNoDataError(pool: PoolRow, checkpoint: CheckpointRow): ServiceError {
  return new ServiceError(
    "not_found",
    pool.createdBlock < checkpoint.fromBlock
      ? `Pool ${pool.poolAddress} exists, but has had no event since block ${checkpoint.fromBlock}, where the index begins, and is not read yet.`
      : `Pool ${pool.poolAddress} exists, but has had no event yet.`,
  );
}
