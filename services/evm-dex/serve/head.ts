import type { DataVersion } from "../../shared/contract/endpoint.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";

/** Attempts to read a whole response between two writes of the ingest. */
const MAX_ATTEMPTS = 4;

export function versionOf(checkpoint: CheckpointRow): DataVersion {
  return {
    block: checkpoint.blockNumber,
    time: checkpoint.blockTime,
    blockHash: checkpoint.blockHash,
    fromBlock: checkpoint.fromBlock,
  };
}

/** Whether any block is indexed: before the first write the checkpoint stands before the first block. */
export function hasData(checkpoint: CheckpointRow | undefined): checkpoint is CheckpointRow {
  return checkpoint !== undefined && checkpoint.blockNumber >= checkpoint.fromBlock;
}

/**
 * Runs `read` so that all it reads stands on one checkpoint: if the ingest wrote meanwhile, it reads again.
 * Undefined where nothing is indexed yet. Throws unavailable if the chain moves faster than it can be read.
 */
export async function readAtHead<T>(
  store: Store,
  {
    chainId,
    seen,
    read,
  }: {
    chainId: number;
    read: (checkpoint: CheckpointRow) => Promise<T>;
    /** Told of every checkpoint that was read, and when its reading began (performance.now). */
    seen?: (checkpoint: CheckpointRow, startedMs: number) => void;
  },
): Promise<{ value: T; checkpoint: CheckpointRow } | undefined> {
  const look = async (): Promise<CheckpointRow | undefined> => {
    const startedMs = performance.now();
    const found = await getCheckpoint(store, chainId);
    if (found !== undefined) seen?.(found, startedMs);
    return found;
  };
  let checkpoint = await look();
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    if (!hasData(checkpoint)) return undefined;
    const value = await read(checkpoint);
    const after = await look();
    if (after?.blockHash === checkpoint.blockHash) return { value, checkpoint };
    checkpoint = after;
  }
  throw new ServiceError("unavailable", "The index is being rewritten; try again in a moment.", {
    retryAfterSeconds: 1,
  });
}
