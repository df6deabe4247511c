import type { EvmSource } from "../../../shared/evm/port.ts";
import type { SyncLog } from "../../../shared/index/follow-head.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { ChainDeployments } from "../../deployments.ts";
import type { Patience } from "../unwritten.ts";
import { indexChunk } from "./index-chunk.ts";
import { type PlannedChunk, ScratchStore } from "./scratch.ts";

/** A batch of a chunk that was indexed. */
export interface ChunkBatch {
  readonly block: number;
  /** Unix seconds. */
  readonly time: number;
  readonly events: number;
}

/**
 * Indexes a chunk into its file, from where an earlier run stopped; false where the signal ended it. Several may run at a
 * time.
 */
export type RunChunk = (
  planned: PlannedChunk,
  options: { signal: AbortSignal; onBatch: (batch: ChunkBatch) => void },
) => Promise<boolean>;

export interface ChunkDeps {
  /** The index's, for what chunks share with it. */
  readonly store: Store;
  readonly source: EvmSource;
  /** A source for long runs of blocks, closed after a chunk. */
  readonly openBulkSource?: (() => EvmSource) | undefined;
  readonly chain: ChainDeployments;
  readonly folder: string;
  readonly log: SyncLog;
  readonly maxAddresses?: number | undefined;
  /** How much waits for a write; all but tests use the default. */
  readonly patience?: Patience;
}

/** Runs chunks in this thread. */
export function runChunksHere(deps: ChunkDeps): RunChunk {
  return async (planned, { signal, onBatch }) => {
    const { chainId, to } = planned.chunk;
    const scratch = await ScratchStore.open(deps.store, { folder: deps.folder, chainId, to });
    const bulk = deps.openBulkSource?.();
    try {
      await scratch.plan(planned);
      const context = { ...deps, store: scratch.store, source: bulk ?? deps.source, signal, onBatch };
      return await indexChunk(context, planned);
    } finally {
      await bulk?.close();
      await scratch.close();
    }
  };
}
