import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { parentPort, type ResourceLimits, Worker } from "node:worker_threads";

/** What a thread says to the one that started it. */
type ThreadMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "told"; readonly what: unknown }
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failure"; readonly id: number; readonly failure: unknown };

interface ThreadRequest<Q> {
  readonly id: number;
  readonly question: Q;
}

/**
 * Starts a thread whose file lies beside the caller's, as TypeScript in the sources and as JavaScript in the built tree:
 * `name` is without its extension, `base` the caller's import.meta.url.
 */
export function createThread(name: string, base: string, resourceLimits: ResourceLimits = {}): Worker {
  if (!base.endsWith(".ts")) return new Worker(new URL(`./${name}.js`, base), { resourceLimits });
  const file = new URL(`./${name}.ts`, base);
  if ("Deno" in globalThis) return new Worker(file, { resourceLimits });
  // Node 20 does not hand the loader of TypeScript on to its threads.
  const loader = createRequire(import.meta.url).resolve("tsx/cjs/api");
  const start = `require(${JSON.stringify(loader)}).register(); require(${JSON.stringify(fileURLToPath(file))});`;
  return new Worker(start, { eval: true, resourceLimits });
}

export interface ThreadWork<Q> {
  readonly worker: Worker;
  /** The first that the thread is told. */
  readonly task: unknown;
  /** Answers here what the thread does not: all of it until it is up, and again what it owed when it died. */
  readonly fallback: (question: Q) => Promise<unknown>;
  /** Of an error only data survives the way between threads: makes one of it again. */
  readonly toError: (failure: unknown) => Error;
  /** What the thread says besides answers. */
  readonly onMessage: (what: unknown) => void;
  readonly onFailure: (reason: string) => void;
  /** The error of questions that are under way when it is closed. */
  readonly closedError: (question: Q) => Error;
}

/** Asks a thread, and who stands in for it where it is not there. `close` ends the thread. */
export function createThreadClient<Q>(of: ThreadWork<Q>): {
  request(question: Q): Promise<unknown>;
  close(): Promise<void>;
} {
  const waiting = new Map<
    number,
    { question: Q; resolve(value: unknown): void; reject(error: unknown): void }
  >();
  let nextId = 1;
  let isUp = false;
  let isClosed = false;
  const { worker, fallback } = of;

  function hear(word: ThreadMessage): void {
    if (word.kind === "ready") isUp = !isClosed;
    else if (word.kind === "told") of.onMessage(word.what);
    else {
      const asked = waiting.get(word.id);
      waiting.delete(word.id);
      if (word.kind === "answer") asked?.resolve(word.value);
      else asked?.reject(of.toError(word.failure));
    }
  }

  /** The thread is gone: what it still owed is asked here, unless nobody waits for it any more. */
  function takeOver(): void {
    isUp = false;
    for (const { question, resolve, reject } of waiting.values()) {
      if (isClosed) reject(of.closedError(question));
      else fallback(question).then(resolve, reject);
    }
    waiting.clear();
  }

  worker.on("message", hear);
  worker.on("error", (error) => of.onFailure(String(error)));
  worker.on("exit", takeOver);
  worker.postMessage(of.task);
  return {
    request(question) {
      if (!isUp) return fallback(question);
      const id = nextId++;
      return new Promise((resolve, reject) => {
        waiting.set(id, { question, resolve, reject });
        worker.postMessage({ id, question } satisfies ThreadRequest<Q>);
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
 * The other side, called by the thread's file: `start` gets the task and answers questions from then on; `tell` says
 * what is no answer.
 */
export function serveThread<T, Q>(of: {
  start(task: T, tell: (what: unknown) => void): (question: Q) => Promise<unknown>;
  toFailure(error: unknown): unknown;
}): void {
  const port = parentPort;
  if (port === null) throw new Error("This file runs as a worker thread only.");
  const say = (word: ThreadMessage) => port.postMessage(word);
  port.once("message", (task: T) => {
    const answer = of.start(task, (what) => say({ kind: "told", what }));
    port.on("message", ({ id, question }: ThreadRequest<Q>) => {
      answer(question).then(
        (value) => say({ kind: "answer", id, value }),
        (error: unknown) => say({ kind: "failure", id, failure: of.toFailure(error) }),
      );
    });
    say({ kind: "ready" });
  });
}
