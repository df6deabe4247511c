import type { Worker } from "node:worker_threads";
import { createThread } from "../../process/thread-work.ts";

/** How long a thread that was started ahead waits for work. */
const KEEP_MS = 10_000;

let ahead: Worker | undefined;

/**
 * Starts a reading thread before anybody asks for one. A process that is likely to have a long run ahead of it calls this
 * first of all: the thread's start then costs no time, as it lies beside the process's own. Where nobody takes the thread,
 * it is ended; it does not keep the process alive.
 */
export function startThreadAhead(): void {
  const worker = createThread("thread.worker", import.meta.url);
  ahead = worker;
  // A thread that does not start is told of where it is taken: by an exit that has been.
  const drop = () => {
    if (ahead === worker) ahead = undefined;
  };
  worker.once("error", drop).once("exit", drop);
  worker.unref();
  setTimeout(() => {
    if (ahead === worker) void worker.terminate();
  }, KEEP_MS).unref();
}

/** The thread that was started ahead, or a new one. */
export function startThread(): Worker {
  const worker = ahead ?? createThread("thread.worker", import.meta.url);
  ahead = undefined;
  worker.ref();
  return worker;
}
