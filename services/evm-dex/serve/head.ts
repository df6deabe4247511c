import { requireConsistent, snapshotsOf } from "../../shared/index/consistent-read.ts";
import { hasData } from "../../shared/index/evm/checkpoint.ts";
import type { Store } from "../../shared/storage/port.ts";
import { type CheckpointRow, checkpoints } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";

/** Attempts to read a whole response between two writes of the ingest, where the store has no snapshots. */
const MAX_ATTEMPTS = 4;

/**
 * Runs `read` so that all it reads is of one block: where the ingest wrote meanwhile, it reads again. Undefined where
 * nothing is indexed yet. Throws unavailable where the chain moves faster than it can be read.
 */
export function readAtHead<T>(
  store: Store,
  {
    chainId,
    read,
    signal,
    inSnapshot,
    seen,
  }: {
    chainId: number;
    /** Reads from `view`: a snapshot, or the store itself. */
    read: (checkpoint: CheckpointRow, view: Store) => Promise<T>;
    /** Of the request that alone wants it; undefined where others share it. */
    signal: AbortSignal | undefined;
    /** Whether `read` reads from its view alone, so that the ingest cannot outrun it. */
    inSnapshot?: true;
    /** Called with every checkpoint that was read, and when its reading began (performance.now). */
    seen?: (checkpoint: CheckpointRow, startedMs: number) => void;
  },
): Promise<{ value: T; checkpoint: CheckpointRow } | undefined> {
  const wanted = signal === undefined ? store : store.within(signal);
  return requireConsistent({
    async getCheckpoint(view) {
      // A view may be of the block before.
      if (view !== undefined) return getCheckpoint(view, chainId);
      const startedMs = performance.now();
      const checkpoint = await getCheckpoint(wanted, chainId);
      if (checkpoint !== undefined) seen?.(checkpoint, startedMs);
      return checkpoint;
    },
    hasData,
    read: (checkpoint, view = wanted) => read(checkpoint, view),
    isSameState: (before, after) => after?.blockHash === before.blockHash,
    maxAttempts: MAX_ATTEMPTS,
    signal,
    ...(inSnapshot && { snapshots: snapshotsOf(wanted, checkpoints, { chainId }) }),
  });
}
