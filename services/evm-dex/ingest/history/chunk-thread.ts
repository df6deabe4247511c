import { availableParallelism, totalmem } from "node:os";
import type { Worker } from "node:worker_threads";
import type { ThreadPortal } from "../../../shared/evm/thread/thread-messages.ts";
import type { SyncLog } from "../../../shared/index/follow-head.ts";
import { createThread, createThreadClient } from "../../../shared/process/thread-work.ts";
import type { SourceEvent } from "../../../shared/rpc-client/endpoint/endpoint.ts";
import type { ChainDeployments } from "../../deployments.ts";
import type { ChunkBatch, RunChunk } from "./run-chunk.ts";
import type { PlannedChunk } from "./scratch.ts";

/** Chunks that are indexed at a time at most: each needs a file of a day's rows, and memory for all pools. */
const MOST_CHUNKS = 4;
/** A chunk's two threads take some 500 MB (`npm run bench:history`); all together a quarter of the memory that there is. */
const MEMORY_A_CHUNK = 2 ** 31;

/** The first message to the thread: its stores, its endpoints, and what is deployed. */
export interface ChunkTask {
  readonly store: { readonly dataDir: string; readonly mongodbUrl?: string | undefined };
  readonly folder: string;
  readonly urls: readonly string[];
  readonly portal?: ThreadPortal | undefined;
  readonly chain: ChainDeployments;
  readonly maxAddresses?: number | undefined;
}

/** Messages of the thread beside its result. */
export type ChunkMessage =
  | { readonly kind: "batch"; readonly batch: ChunkBatch }
  | { readonly kind: "event"; readonly event: SourceEvent }
  | {
      readonly kind: "log";
      readonly level: Parameters<SyncLog>[0];
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>>;
    };

export interface ChunkThreadOptions {
  readonly task: ChunkTask;
  readonly log: SyncLog;
  readonly onEvent: (event: SourceEvent) => void;
  /** Where a thread cannot start. */
  readonly fallback: RunChunk;
  /** Injected by tests. */
  readonly startWorker?: () => Worker;
}

/** Where no setting says how many: one core is left to the head, and most of the memory to all else. */
export function chunksAtATime({
  cores = availableParallelism(),
  memoryBytes = memoryOfProcess(),
}: {
  cores?: number;
  memoryBytes?: number;
} = {}): number {
  return Math.max(1, Math.min(MOST_CHUNKS, cores - 1, Math.floor(memoryBytes / MEMORY_A_CHUNK)));
}

/** That of the machine, or of the container where that has a limit. */
function memoryOfProcess(): number {
  // Deno has no such function; 0 = no limit.
  const limit = process.constrainedMemory?.() ?? 0;
  return limit === 0 ? totalmem() : Math.min(limit, totalmem());
}

/** Runs each chunk in a thread of its own, so that the head does not wait for it. */
export function runChunksInThreads({
  task,
  log,
  onEvent,
  fallback,
  startWorker,
}: ChunkThreadOptions): RunChunk {
  return async (planned, options) => {
    const { signal, onBatch } = options;
    const worker = (startWorker ?? (() => createThread("chunk.worker", import.meta.url)))();
    const started = new Promise<boolean>((resolve) => {
      worker.once("message", () => resolve(true));
      worker.once("exit", () => resolve(false));
    });
    const thread = createThreadClient<PlannedChunk>({
      worker,
      task,
      fallback: (chunk) => fallback(chunk, options),
      toError: (failure) => new Error(String(failure)),
      onMessage(what) {
        const word = what as ChunkMessage;
        if (word.kind === "batch") onBatch(word.batch);
        else if (word.kind === "event") onEvent(word.event);
        else log(word.level, word.message, word.fields);
      },
      onFailure: (reason) =>
        log("warn", `A thread of history failed: its chunk goes on in the main thread (${reason}).`),
      closedError: () => new Error("ended by the signal"),
    });
    const close = () => void thread.close();
    signal.addEventListener("abort", close, { once: true });
    try {
      await started;
      if (signal.aborted) return false;
      return (await thread.request(planned)) as boolean;
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    } finally {
      signal.removeEventListener("abort", close);
      await thread.close();
    }
  };
}
