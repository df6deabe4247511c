import type { EvmSource, Hex } from "../../../shared/evm/port.ts";
import type { SyncLog } from "../../../shared/index/follow-head.ts";
import { pause } from "../../../shared/process/pause.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { ChainDeployments } from "../../deployments.ts";
import { DAY, MINUTE, startOf } from "../../metrics/bucket.ts";
import { KEPT_SECONDS, KEPT_TVL_HOURS_SECONDS } from "../../metrics/kept.ts";
import { StateReader } from "../start/state-reader.ts";
import { blockBefore } from "../start-block.ts";
import type { ChainSync } from "../sync.ts";
import { hasDetail, type KeptFrom, planChunk } from "./chunk.ts";
import { mergeChunk } from "./merge.ts";
import type { RunChunk } from "./run-chunk.ts";
import { type PlannedChunk, ScratchStore } from "./scratch.ts";

/** How often a block that is not final yet is looked at again. */
const FINAL_CHECK_MS = 5_000;
/** Before a chunk that failed is tried again. */
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
  /** Seconds of chain that are still to be indexed; of chunks that are under way what they have is counted. */
  readonly leftSeconds: number;
}

export interface GrowContext {
  readonly store: Store;
  readonly sync: ChainSync;
  readonly source: EvmSource;
  readonly chain: ChainDeployments;
  readonly runChunk: RunChunk;
  /** Chunks that are indexed at a time; default one. */
  readonly chunks?: number;
  /** Before a chunk that failed is tried again; all but tests use the default. */
  readonly retryMs?: number;
  readonly signal: AbortSignal;
  readonly log: SyncLog;
  /** Folder of the files of chunks. */
  readonly folder: string;
  /** How far back history goes. */
  readonly days: number;
  /** Days whose events are kept as rows. */
  readonly rawDays: number;
  /** Whether the rows of older days are kept elsewhere before they go: then all of them come; default no. */
  readonly isArchived?: boolean;
  readonly onProgress?: (progress: HistoryProgress) => void;
}

/** A chunk that is being indexed. */
interface RunningChunk {
  readonly planned: PlannedChunk;
  /** Whether it is indexed to its end: false at the signal. */
  readonly done: Promise<boolean>;
  /** Seconds of it that are indexed. */
  seconds: number;
}

/**
 * Grows the index backwards, chunk by chunk, while it follows the head; ends when it covers `days`, or begins before
 * the first factory. Several chunks are indexed at a time, and merged in their order. A failure is logged, and the
 * chunk goes on where it stopped.
 */
export async function growHistory(context: GrowContext): Promise<void> {
  const { sync, signal, log, retryMs = RETRY_MS } = context;
  const running: RunningChunk[] = [];
  let isWhole = false;
  while (!isWhole && !signal.aborted) {
    try {
      isWhole = !(await growStep(context, running));
    } catch (error) {
      if (signal.aborted) break;
      const { message } = error as Error;
      log(
        "warn",
        `History stopped before block ${sync.checkpoint.fromBlock}, and is tried again: ${message}`,
      );
      await pause(retryMs, signal);
      const [first] = running;
      if (first !== undefined && !signal.aborted)
        running[0] = start(context, { planned: first.planned, running });
    }
  }
  await Promise.allSettled(running.map(({ done }) => done));
}

/**
 * Starts the chunks that there is room for, and merges the first, while the one after them is indexed in its place; false
 * where nothing is missing, or at the signal.
 */
async function growStep(context: GrowContext, running: RunningChunk[]): Promise<boolean> {
  const { sync, folder, chunks = 1 } = context;
  const { chainId, fromBlock } = sync.checkpoint;
  if (running.length === 0) await ScratchStore.removeFrom({ folder, chainId, block: fromBlock });
  await startUpTo(chunks, { context, running });
  const [first] = running;
  if (first === undefined || !(await first.done)) return false;
  await startUpTo(chunks + 1, { context, running });
  await merge(context, first.planned);
  running.shift();
  return true;
}

async function startUpTo(
  chunks: number,
  { context, running }: { context: GrowContext; running: RunningChunk[] },
): Promise<void> {
  while (running.length < chunks) {
    const planned = await planNext(context, running.at(-1)?.planned);
    if (planned === undefined) break;
    running.push(start(context, { planned, running }));
  }
  report(context, running);
}

/** Indexes and merges one chunk; false where nothing is missing, or at the signal. */
export async function growOnce(context: GrowContext): Promise<boolean> {
  const planned = await planNext(context, undefined);
  if (planned === undefined) return false;
  const chunk = start(context, { planned, running: [] });
  if (!(await chunk.done)) return false;
  return merge(context, planned);
}

/** Once its last block is final: history is never undone. */
function start(
  context: GrowContext,
  { planned, running }: { planned: PlannedChunk; running: readonly RunningChunk[] },
): RunningChunk {
  const { sync, signal, runChunk } = context;
  const run = async () => {
    while (sync.finalBlock < planned.chunk.to && !signal.aborted) await pause(FINAL_CHECK_MS, signal);
    if (signal.aborted) return false;
    const onBatch = ({ time }: { time: number }) => {
      chunk.seconds = Math.max(0, time - planned.chunk.from.time);
      report(context, running.length === 0 ? [chunk] : running);
    };
    return runChunk(planned, { signal, onBatch });
  };
  const chunk: RunningChunk = { planned, done: run(), seconds: 0 };
  // Awaited in its turn: until then a failure must not count as unhandled.
  chunk.done.catch(() => {});
  return chunk;
}

async function merge(context: GrowContext, { chunk }: PlannedChunk): Promise<boolean> {
  const { store: main, sync, signal, folder, log } = context;
  const { chainId, from, to } = chunk;
  const { fromTime } = sync.checkpoint;
  const scratch = await ScratchStore.open(main, { folder, chainId, to });
  try {
    const at = { main, past: scratch.store, chunk, fromTime, keptFrom: keptFromOf(context) };
    if (!(await mergeChunk(sync, { at, signal }))) return false;
    log("info", `History begins at block ${from.number}, ${new Date(from.time * 1_000).toISOString()}.`);
    await scratch.remove();
    return true;
  } finally {
    await scratch.close();
  }
}

/** The chunk before the index, or before one that is not merged yet; the stored plan where it was begun before. */
async function planNext(
  context: GrowContext,
  later: PlannedChunk | undefined,
): Promise<PlannedChunk | undefined> {
  const { store, sync, source, chain, days, folder } = context;
  const { fromBlock, fromTime, blockTime, chainId } = sync.checkpoint;
  const begin = later?.chunk.from ?? { number: fromBlock, time: fromTime };
  const wanted = {
    edge: { chainId, fromBlock: begin.number, fromTime: begin.time },
    headTime: blockTime,
    since: sinceOf({ headTime: blockTime, days }),
    oldest: Math.max(0, Math.min(...chain.factories.map((factory) => factory.fromBlock))),
    keptFrom: keptFromOf(context),
  };
  let chunk = await planChunk(source, { ...wanted, warmUpSeconds: WARM_UP_SECONDS.withState });
  if (chunk === undefined) return undefined;
  const scratch = await ScratchStore.open(store, { folder, chainId, to: chunk.to });
  const begun = await scratch.planned(chainId);
  // With other settings more may be kept than the file has.
  const isUsable = begun !== undefined && hasDetail(begun.chunk.detail, chunk.detail);
  await (isUsable ? scratch.close() : scratch.remove());
  if (isUsable) return begun;
  if (!(await hasStateBefore(source, chunk.warmFrom)))
    chunk = await planChunk(source, { ...wanted, warmUpSeconds: WARM_UP_SECONDS.withoutState });
  return chunk && { chunk, parentHash: (await blockBefore(source, begin.number)).hash };
}

/** As retention does it: whole days, beside the open one. */
function keptFromOf({ sync, rawDays, isArchived = false }: GrowContext): KeptFrom {
  const isAllKept = rawDays === Number.POSITIVE_INFINITY;
  const keptFrom = (seconds: number) => (isAllKept ? 0 : startOf(sync.checkpoint.blockTime - seconds, DAY));
  return {
    rows: isArchived ? 0 : keptFrom(rawDays * DAY),
    minutes: keptFrom(KEPT_SECONDS[MINUTE]),
    tvlHours: keptFrom(KEPT_TVL_HOURS_SECONDS),
  };
}

async function hasStateBefore(source: EvmSource, block: number): Promise<boolean> {
  const before = await blockBefore(source, block);
  if (before.number < 0) return true;
  const reader = await StateReader.open(source, { number: before.number, hash: before.hash as Hex });
  return reader.block.number === before.number;
}

function report({ sync, days, onProgress }: GrowContext, running: readonly RunningChunk[]): void {
  const { fromTime, blockTime } = sync.checkpoint;
  const since = sinceOf({ headTime: blockTime, days });
  const indexed = running.reduce((sum, { seconds }) => sum + seconds, 0);
  const left = running.length === 0 ? 0 : Math.max(0, fromTime - since - indexed);
  onProgress?.({ coveredFrom: fromTime, since, leftSeconds: left });
}

/** A midnight, so that it does not move with every block. */
function sinceOf({ headTime, days }: { headTime: number; days: number }): number {
  return startOf(headTime, DAY) - days * DAY;
}
