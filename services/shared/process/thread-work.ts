import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { parentPort, type ResourceLimits, Worker } from "node:worker_threads";

/** A message of a worker thread to its client. */
type ThreadMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "event"; readonly event: unknown }
  | { readonly kind: "result"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failure"; readonly id: number; readonly failure: unknown };

interface ThreadRequest<Q> {
  readonly id: number;
  readonly request: Q;
}

/**
 * Starts a thread whose file is next to the caller's, TypeScript in the sources and JavaScript in the built tree:
 * `name` is without its extension, `base` the caller's import.meta.url.
 */
export function createThread(name: string, base: string, resourceLimits: ResourceLimits = {}): Worker {
  if (!base.endsWith(".ts")) return new Worker(new URL(`./${name}.js`, base), { resourceLimits });
  const file = new URL(`./${name}.ts`, base);
  if ("Deno" in globalThis) return new Worker(file, { resourceLimits });
  // Node 20 does not pass the TypeScript loader on to its threads.
  const loader = createRequire(import.meta.url).resolve("tsx/cjs/api");
  const start = `require(${JSON.stringify(loader)}).register(); require(${JSON.stringify(fileURLToPath(file))});`;
  return new Worker(start, { eval: true, resourceLimits });
}

export interface ThreadWork<Q> {
  readonly worker: Worker;
  /** The first message to the thread. */
  readonly task: unknown;
  /** Runs requests in this thread: until the worker is up, and those it had not finished when it died. */
  readonly fallback: (request: Q) => Promise<unknown>;
  /** Only plain data crosses threads: rebuilds the error from it. */
  readonly toError: (failure: unknown) => Error;
  /** Messages of the thread besides results. */
  readonly onMessage: (event: unknown) => void;
  readonly onFailure: (reason: string) => void;
  /** The error of requests in flight when the client is closed. */
  readonly closedError: (request: Q) => Error;
}

/**
 * Sends requests to a thread, or to its fallback while it is not up. `close` ends the thread.
 *
 * Each result waits for a turn of the event loop. Node delivers a thread's messages in one turn for as long as there are any
 * (up to 1,000), with all that their promises set off: of a thread that is faster than the consumer the next one is always
 * there, and no timer, request or signal would be handled for minutes.
 */
export function createThreadClient<Q>(options: ThreadWork<Q>): {
  request(request: Q): Promise<unknown>;
  close(): Promise<void>;
} {
  const waiting = new Map<
    number,
    { request: Q; resolve(value: unknown): void; reject(error: unknown): void }
  >();
  let nextId = 1;
  let isUp = false;
  let isClosed = false;
  const { worker, fallback } = options;

  function receive(message: ThreadMessage): void {
    if (message.kind === "ready") isUp = !isClosed;
    else if (message.kind === "event") options.onMessage(message.event);
    else {
      const pending = waiting.get(message.id);
      waiting.delete(message.id);
      setImmediate(() => {
        if (message.kind === "result") pending?.resolve(message.value);
        else pending?.reject(options.toError(message.failure));
      });
    }
  }

  /** The thread is gone: its unfinished requests run here, or are rejected after close. */
  function takeOver(): void {
    isUp = false;
    for (const { request, resolve, reject } of waiting.values()) {
      if (isClosed) reject(options.closedError(request));
      else fallback(request).then(resolve, reject);
    }
    waiting.clear();
  }

  worker.on("message", receive);
  worker.on("error", (error) => options.onFailure(String(error)));
  worker.on("exit", takeOver);
  worker.postMessage(options.task);
  return {
    request(request) {
      if (!isUp) return fallback(request);
      const id = nextId++;
      return new Promise((resolve, reject) => {
        waiting.set(id, { request, resolve, reject });
        worker.postMessage({ id, request } satisfies ThreadRequest<Q>);
      });
    },
    async close() {
      isClosed = true;
      isUp = false;
      await worker.terminate();
    },
  };
}

/**
 * The worker's side, called by the thread's file: `start` gets the task and returns the handler of requests; `emit` sends
 * any other message.
 */
export function serveThread<T, Q>(options: {
  start(task: T, emit: (event: unknown) => void): (request: Q) => Promise<unknown>;
  toFailure(error: unknown): unknown;
}): void {
  const port = parentPort;
  if (port === null) throw new Error("This file runs as a worker thread only.");
  const send = (message: ThreadMessage) => port.postMessage(message);
  port.once("message", (task: T) => {
    const handle = options.start(task, (event) => send({ kind: "event", event }));
    port.on("message", ({ id, request }: ThreadRequest<Q>) => {
      handle(request).then(
        (value) => send({ kind: "result", id, value }),
        (error: unknown) => send({ kind: "failure", id, failure: options.toFailure(error) }),
      );
    });
    send({ kind: "ready" });
  });
}
