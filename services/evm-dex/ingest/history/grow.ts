import type { EvmSource, Hex } from "../../../shared/evm/port.ts";
import type { SyncLog } from "../../../shared/index/follow-head.ts";
import { pause } from "../../../shared/process/pause.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { ChainDeployments } from "../../deployments.ts";
import { DAY, startOf } from "../../metrics/bucket.ts";
import { StateReader } from "../start/state-reader.ts";
import { blockBefore } from "../start-block.ts";
import type { ChainSync } from "../sync.ts";
import { planChunk } from "./chunk.ts";
import { indexChunk } from "./index-chunk.ts";
import { mergeChunk } from "./merge.ts";
import { type PlannedChunk, ScratchStore } from "./scratch.ts";

/** How often a block that is not final yet is looked at again. */
const FINAL_CHECK_MS = 5_000;
/** Between two chunks that failed. */
const RETRY_MS = 30_000;
/**
 * Prices settle in five minutes where the state before them is known, which only a node with an archive has; without
 * it every pool that matters has traded within the hour.
 */
const WARM_UP_SECONDS = { withState: 600, withoutState: 3_600 };

/** How far history has come. */
export interface HistoryProgress {
  /** Unix seconds: all from here on is indexed, and where it is to begin. */
  readonly coveredFrom: number;
  readonly since: number;
  /** Seconds of chain that are still to be indexed, of which a chunk that is under way counts what it has. */
  readonly leftSeconds: number;
}

export interface GrowContext {
  readonly store: Store;
  readonly sync: ChainSync;
  readonly source: EvmSource;
  /** A source for long runs of blocks, closed after a chunk. */
  readonly openBulkSource?: () => EvmSource;
  readonly chain: ChainDeployments;
  readonly signal: AbortSignal;
  readonly log: SyncLog;
  readonly maxAddresses?: number | undefined;
  /** Folder of the file of a chunk. */
  readonly folder: string;
  /** How far back history goes. */
  readonly days: number;
  /** Days whose events are kept as rows. */
  readonly rawDays: number;
  readonly onProgress?: (progress: HistoryProgress) => void;
}

/**
 * Grows the index backwards, chunk by chunk, while it follows the head; ends when it covers `days`, or begins before
 * the first factory. A failure is logged, and the chunk goes on where it stopped.
 */
export async function growHistory(context: GrowContext): Promise<void> {
  const { sync, signal, log } = context;
  while (!signal.aborted) {
    if (!sync.isFollowing) {
      await pause(FINAL_CHECK_MS / 10, signal);
      continue;
    }
    try {
      if (!(await growOnce(context))) return;
    } catch (error) {
      if (signal.aborted) return;
      log(
        "warn",
        `History stopped at block ${sync.checkpoint.fromBlock}, and is tried again: ${messageOf(error)}`,
      );
      await pause(RETRY_MS, signal);
    }
  }
}

/** Indexes and merges one chunk; false where nothing is missing, or at the signal. */
export async function growOnce(context: GrowContext): Promise<boolean> {
  const { store, sync, chain, signal, log, folder } = context;
  const { chainId } = chain;
  let scratch = await ScratchStore.open(store, { folder, chainId });
  try {
    let planned = await scratch.planned(chainId);
    if (planned?.chunk.to !== sync.checkpoint.fromBlock - 1) {
      // Merged before a kill, or of another index.
      await scratch.remove();
      planned = await plan(context);
      scratch = await ScratchStore.open(store, { folder, chainId });
      if (planned !== undefined) await scratch.plan(planned);
    }
    if (planned === undefined) {
      await scratch.remove();
      return false;
    }
    while (sync.finalBlock < planned.chunk.to && !signal.aborted) await pause(FINAL_CHECK_MS, signal);
    if (!(await indexAndMerge(context, { scratch, planned }))) return false;
    const { from } = planned.chunk;
    log("info", `History begins at block ${from.number}, ${new Date(from.time * 1_000).toISOString()}.`);
    await scratch.remove();
    return true;
  } finally {
    await scratch.close();
  }
}

async function plan({ sync, source, chain, days }: GrowContext): Promise<PlannedChunk | undefined> {
  const { fromBlock, fromTime, blockTime, chainId } = sync.checkpoint;
  const wanted = {
    edge: { chainId, fromBlock, fromTime },
    headTime: blockTime,
    since: sinceOf({ headTime: blockTime, days }),
    oldest: Math.max(0, Math.min(...chain.factories.map((factory) => factory.fromBlock))),
  };
  let chunk = await planChunk(source, { ...wanted, warmUpSeconds: WARM_UP_SECONDS.withState });
  if (chunk === undefined) return undefined;
  if (!(await hasStateBefore(source, chunk.warmFrom)))
    chunk = await planChunk(source, { ...wanted, warmUpSeconds: WARM_UP_SECONDS.withoutState });
  return chunk && { chunk, parentHash: (await blockBefore(source, fromBlock)).hash };
}

async function hasStateBefore(source: EvmSource, block: number): Promise<boolean> {
  const before = await blockBefore(source, block);
  if (before.number < 0) return true;
  const reader = await StateReader.open(source, { number: before.number, hash: before.hash as Hex });
  return reader.block.number === before.number;
}

async function indexAndMerge(
  context: GrowContext,
  { scratch, planned }: { scratch: ScratchStore; planned: PlannedChunk },
): Promise<boolean> {
  const { store: main, sync, signal, rawDays } = context;
  const { chunk } = planned;
  const source = context.openBulkSource?.();
  try {
    const { fromTime, blockTime } = sync.checkpoint;
    const indexing = { ...context, source: source ?? context.source, store: scratch.store };
    const onBatch = ({ time }: { time: number }) => reportAt(context, Math.max(0, time - chunk.from.time));
    reportAt(context, 0);
    if (!(await indexChunk({ ...indexing, onBatch }, planned))) return false;
    const at = { main, past: scratch.store, chunk, fromTime };
    const keepRowsFrom = blockTime - rawDays * DAY;
    return await mergeChunk(sync, { at, keepRowsFrom, signal });
  } finally {
    await source?.close();
  }
}

function reportAt({ sync, days, onProgress }: GrowContext, indexedSeconds: number): void {
  const { fromTime, blockTime } = sync.checkpoint;
  const since = sinceOf({ headTime: blockTime, days });
  onProgress?.({ coveredFrom: fromTime, since, leftSeconds: Math.max(0, fromTime - since - indexedSeconds) });
}

/** A midnight, so that it does not move with every block. */
function sinceOf({ headTime, days }: { headTime: number; days: number }): number {
  return startOf(headTime, DAY) - days * DAY;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
