import type { Worker } from "node:worker_threads";
import { createThread } from "../../process/thread-work.ts";
import { startWithSemiSpace } from "../../process/v8-flags.ts";

/** How long a prestarted thread waits for work. */
const KEEP_MS = 10_000;
/**
 * What it reads is held until it is checked, however large the young generation, and the rest dies at once: a larger one is
 * memory for nothing.
 */
const SEMI_SPACE_MB = 2;

let ahead: Worker | undefined;

/**
 * Starts a reader thread ahead of its use. A process that is likely to have a long backfill calls this first: the
 * thread then starts beside the process itself, at no cost of time. An unused thread is terminated; it does not keep
 * the process alive.
 */
export function startThreadAhead(): void {
  const worker = createReader();
  ahead = worker;
  // The user of a thread that failed to start sees that it has exited.
  const drop = () => {
    if (ahead === worker) ahead = undefined;
  };
  worker.once("error", drop).once("exit", drop);
  worker.unref();
  setTimeout(() => {
    if (ahead === worker) void worker.terminate();
  }, KEEP_MS).unref();
}

/** The prestarted thread, or a new one. */
export function startThread(): Worker {
  const worker = ahead ?? createReader();
  ahead = undefined;
  worker.ref();
  return worker;
}

function createReader(): Worker {
  return startWithSemiSpace(SEMI_SPACE_MB, () => createThread("thread.worker", import.meta.url));
}
