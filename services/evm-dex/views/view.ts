import { ServiceError } from "../../shared/errors.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { Protocol } from "../protocols/protocol.ts";
import type { CheckpointRow, PoolRow } from "../store/collections.ts";

/**
 * The row of one kind of endpoint for one pool. Serving reads it on request; the ingest may compute it ahead for a
 * pool that is likely to be requested. Both depend on views, not on each other.
 */
export interface PoolView<R extends object = object> {
  /** Rows that it needs of the time before a block, beside single events. */
  readonly needs?: readonly NeededRows[];
  /** Name of the view in snapshots; unique. */
  readonly name: string;
  /** Generation of the pools that it supports. */
  readonly generation: Protocol["generation"];
  /** The row at the checkpoint, by column. Throws ServiceError not_found where the pool's state is not known yet. */
  read(store: Store, query: ViewQuery): Promise<R>;
}

export interface ViewQuery {
  readonly pool: PoolRow;
  readonly checkpoint: CheckpointRow;
  /** Whether the store goes on beyond the checkpoint, which then is not its own but an earlier block's. */
  readonly isPast?: boolean;
}

/** Rows of which none may be gone, by their name in `retentions`. */
export interface NeededRows {
  readonly rows: string;
  readonly seconds: number;
}

/** The error for a pool of which something was not read yet at an earlier block, and cannot be read any more. */
export function createUnreadError(
  pool: PoolRow,
  { checkpoint, what }: { checkpoint: CheckpointRow; what: string },
): ServiceError {
  return new ServiceError(
    "not_found",
    `The ${what} of pool ${pool.poolAddress} changes without an event, and had not been read at block ${checkpoint.blockNumber}: the index had not come to the chain's head then.`,
  );
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
