import { requireConsistent, snapshotsOf } from "../../shared/index/consistent-read.ts";
import { hasData } from "../../shared/index/evm/checkpoint.ts";
import type { Store } from "../../shared/storage/port.ts";
import { type CheckpointRow, checkpoints } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";

/** Attempts to read a whole response between two writes of the ingest, where the store has no snapshots. */
const MAX_ATTEMPTS = 4;

/** Runs `read` so that all it reads is of one block; undefined where nothing is indexed yet. */
export function readAtHead<T>(
  store: Store,
  {
    chainId,
    signal,
    read,
  }: {
    chainId: number;
    /** Of the request that alone wants it; undefined where others share it. */
    signal: AbortSignal | undefined;
    read: (checkpoint: CheckpointRow, view: Store) => Promise<T>;
  },
): Promise<{ value: T; checkpoint: CheckpointRow } | undefined> {
  const wanted = signal === undefined ? store : store.within(signal);
  return requireConsistent({
    getCheckpoint: (view = wanted) => getCheckpoint(view, chainId),
    hasData,
    read: (checkpoint, view = wanted) => read(checkpoint, view),
    isSameState: (before, after) => after?.version === before.version && after.epoch === before.epoch,
    maxAttempts: MAX_ATTEMPTS,
    signal,
    snapshots: snapshotsOf(wanted, checkpoints, { chainId }),
  });
}
