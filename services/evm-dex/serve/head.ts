import { requireConsistent } from "../../shared/index/consistent-read.ts";
import { hasData } from "../../shared/index/evm/checkpoint.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";

/** Attempts to read a whole response between two writes of the ingest. */
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
    seen,
  }: {
    chainId: number;
    read: (checkpoint: CheckpointRow) => Promise<T>;
    /** Called with every checkpoint that was read, and when its reading began (performance.now). */
    seen?: (checkpoint: CheckpointRow, startedMs: number) => void;
  },
): Promise<{ value: T; checkpoint: CheckpointRow } | undefined> {
  return requireConsistent({
    async getCheckpoint() {
      const startedMs = performance.now();
      const checkpoint = await getCheckpoint(store, chainId);
      if (checkpoint !== undefined) seen?.(checkpoint, startedMs);
      return checkpoint;
    },
    hasData,
    read,
    isSameState: (before, after) => after?.blockHash === before.blockHash,
    maxAttempts: MAX_ATTEMPTS,
  });
}
