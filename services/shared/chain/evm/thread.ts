import type { Worker } from "node:worker_threads";
import { type EvmSource, UpstreamError } from "./port.ts";
import type { EvmSourceConfig, SourceOptions } from "./source.ts";
import {
  askSource,
  fromFailure,
  THREAD_METHODS,
  type ThreadMethod,
  type ThreadQuestion,
  type ThreadTask,
  type ThreadWord,
} from "./thread-questions.ts";
import { startThread } from "./thread-start.ts";

/** As the source that stands beside it was made, without what cannot travel to a thread. */
export interface ThreadConfig extends Pick<EvmSourceConfig, "chainId" | "urls" | "log" | "onEvent"> {
  readonly options?: Omit<SourceOptions, "clock" | "fetch" | "socketClass">;
  /** Injected by tests. */
  readonly startWorker?: () => Worker;
}

interface Waiting {
  readonly question: ThreadQuestion;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * The same source with a thread of its own for what is large: fetching, parsing and checking logs and blocks, which
 * long runs spend as much time on as on writing. Everything else is asked of `local`, and so is all of it until the
 * thread is up, where it does not come up, and again what it had not answered when it died. `close` ends the thread,
 * not `local`.
 */
export function readInThread(local: EvmSource, config: ThreadConfig): EvmSource {
  const { chainId, urls, options, log = () => {}, onEvent = () => {} } = config;
  const waiting = new Map<number, Waiting>();
  let nextId = 1;
  let isUp = false;
  let isClosed = false;
  const worker = (config.startWorker ?? startThread)();
  worker.postMessage({ chainId, urls, options } satisfies ThreadTask);

  function hear(word: ThreadWord): void {
    if (word.kind === "ready") isUp = !isClosed;
    else if (word.kind === "log") log(word.message, word.fields);
    else if (word.kind === "event") onEvent(word.event);
    else {
      const asked = waiting.get(word.id);
      waiting.delete(word.id);
      if (word.kind === "answer") asked?.resolve(word.value);
      else asked?.reject(fromFailure(word.failure));
    }
  }

  /** The thread is gone: what it still owed is asked here, unless nobody waits for it any more. */
  function takeOver(): void {
    isUp = false;
    for (const { question, resolve, reject } of waiting.values()) {
      if (isClosed) reject(new UpstreamError(`chain ${chainId}: ${question.method} given up: closed`));
      else askSource(local, question).then(resolve, reject);
    }
    waiting.clear();
  }

  worker.on("message", hear);
  worker.on("error", (error) =>
    log("the reading thread failed: reading goes on without it", { reason: String(error) }),
  );
  worker.on("exit", takeOver);

  function ask(method: ThreadMethod, args: readonly unknown[]): Promise<unknown> {
    const question = { id: nextId++, method, args };
    if (!isUp) return askSource(local, question);
    return new Promise((resolve, reject) => {
      waiting.set(question.id, { question, resolve, reject });
      worker.postMessage(question);
    });
  }

  const asked = Object.fromEntries(
    THREAD_METHODS.map((method) => [method, (...args: unknown[]) => ask(method, args)]),
  ) as unknown as Pick<EvmSource, ThreadMethod>;
  return {
    ...local,
    ...asked,
    async close() {
      isClosed = true;
      isUp = false;
      await worker.terminate();
    },
  };
}
