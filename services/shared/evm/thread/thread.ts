import type { Worker } from "node:worker_threads";
import { askThread } from "../../process/thread-work.ts";
import { type EvmSource, type FinalBlock, UpstreamError } from "../port.ts";
import type { EvmSourceConfig, SourceOptions } from "../source/source.ts";
import {
  callSource,
  type Failure,
  fromFailure,
  THREAD_METHODS,
  type ThreadMessage,
  type ThreadMethod,
  type ThreadRequest,
  type ThreadTask,
} from "./thread-messages.ts";
import { startThread } from "./thread-start.ts";

/** As the source that stands beside it was made, without what cannot travel to a thread. */
export interface ThreadConfig extends Pick<EvmSourceConfig, "chainId" | "urls" | "log" | "onEvent"> {
  readonly options?: Omit<SourceOptions, "clock" | "fetch" | "socketClass">;
  /** Injected by tests. */
  readonly startWorker?: () => Worker;
}

/**
 * The same source with a thread of its own for what is large: fetching, parsing and checking logs and blocks, which
 * long runs spend as much time on as on writing. Everything else is asked of `local`, and so is all of it until the
 * thread is up, where it does not come up, and again what it had not answered when it died. `close` ends the thread,
 * not `local`.
 */
export function readInThread(local: EvmSource, config: ThreadConfig): EvmSource {
  const { chainId, urls, options, log = () => {}, onEvent = () => {} } = config;
  const thread = askThread<ThreadRequest>({
    worker: (config.startWorker ?? startThread)(),
    task: { chainId, urls, options } satisfies ThreadTask,
    local: (question) => callSource(local, question),
    toError: (failure) => fromFailure(failure as Failure),
    onTold(what) {
      const word = what as ThreadMessage;
      if (word.kind === "log") log(word.message, word.fields);
      else onEvent(word.event);
    },
    onFailure: (reason) => log("the reading thread failed: reading goes on without it", { reason }),
    closed: ({ method }) => new UpstreamError(`chain ${chainId}: ${method} given up: closed`),
  });
  let final: FinalBlock | undefined;
  const asked = Object.fromEntries(
    THREAD_METHODS.map((method) => [method, (...args: unknown[]) => thread.ask({ method, args, final })]),
  ) as unknown as Pick<EvmSource, ThreadMethod>;
  return {
    ...local,
    ...asked,
    requireFinal(block, findKnown) {
      // The store cannot be asked from the thread: endpoints that are below the block are looked at here alone.
      final = block;
      local.requireFinal(block, findKnown);
    },
    close: () => thread.close(),
  };
}
