import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

/** How long a thread that was started ahead waits for work. */
const KEEP_MS = 10_000;

let ahead: Worker | undefined;

/**
 * Starts a reading thread before anybody asks for one. A process that is likely to have a long run ahead of it calls this
 * first of all: the thread's start then costs no time, as it lies beside the process's own. Where nobody takes the thread,
 * it is ended; it does not keep the process alive.
 */
export function startThreadAhead(): void {
  const worker = createThread();
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
  const worker = ahead ?? createThread();
  ahead = undefined;
  worker.ref();
  return worker;
}

/** The worker's file lies beside this one, as TypeScript in the sources and as JavaScript in the built tree. */
function createThread(): Worker {
  if (!import.meta.url.endsWith(".ts")) return new Worker(new URL("./thread.worker.js", import.meta.url));
  const file = new URL("./thread.worker.ts", import.meta.url);
  if ("Deno" in globalThis) return new Worker(file);
  // Node 20 does not hand the loader of TypeScript on to its threads.
  const loader = createRequire(import.meta.url).resolve("tsx/cjs/api");
  const start = `require(${JSON.stringify(loader)}).register(); require(${JSON.stringify(fileURLToPath(file))});`;
  return new Worker(start, { eval: true });
}
