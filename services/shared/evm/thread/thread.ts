import type { Worker } from "node:worker_threads";
import { createThreadClient } from "../../process/thread-work.ts";
import { type EvmSource, type FinalBlock, UpstreamError } from "../port.ts";
import type { EvmSourceConfig, SourceOptions } from "../source/source.ts";
import { createThreadHistory, type HistoryRequest, refuseHistory } from "./thread-history.ts";
import {
  callSource,
  type Failure,
  fromFailure,
  THREAD_METHODS,
  type ThreadMessage,
  type ThreadMethod,
  type ThreadPortal,
  type ThreadRequest,
  type ThreadTask,
} from "./thread-messages.ts";
import { startThread } from "./thread-start.ts";

/** The configuration of the source in the main thread, without what cannot be cloned into a thread. */
export interface ThreadConfig extends Pick<EvmSourceConfig, "chainId" | "urls" | "log" | "onEvent"> {
  readonly options?: Omit<SourceOptions, "clock" | "fetch" | "socketClass">;
  /** Where the thread reads history. */
  readonly portal?: ThreadPortal | undefined;
  /** Injected by tests. */
  readonly startWorker?: () => Worker;
}

/**
 * The same source with a thread of its own for large results: it fetches, parses and checks logs and blocks, on which
 * long backfills spend as much time as on writing. `local` serves everything else, and everything until the thread is
 * up, if it never starts, and the requests that were pending when it died. `close` ends the thread, not `local`.
 */
export function readInThread(local: EvmSource, config: ThreadConfig): EvmSource {
  const { chainId, urls, options, portal, log = () => {}, onEvent = () => {} } = config;
  const thread = createThreadClient<ThreadRequest>({
    worker: (config.startWorker ?? startThread)(),
    task: { chainId, urls, options, portal } satisfies ThreadTask,
    fallback: (request) =>
      "history" in request ? refuseHistory(request.history) : callSource(local, request),
    toError: (failure) => fromFailure(failure as Failure),
    onMessage(what) {
      const word = what as ThreadMessage;
      if (word.kind === "log") log(word.message, word.fields);
      else onEvent(word.event);
    },
    onFailure: (reason) => log("the reader thread failed: reading continues in the main thread", { reason }),
    closedError: (request) => {
      const what = "history" in request ? "history" : request.method;
      return new UpstreamError(`chain ${chainId}: ${what} given up: closed`);
    },
  });
  let final: FinalBlock | undefined;
  const proxied = Object.fromEntries(
    THREAD_METHODS.map((method) => [method, (...args: unknown[]) => thread.request({ method, args, final })]),
  ) as unknown as Pick<EvmSource, ThreadMethod>;
  const requestHistory = (history: HistoryRequest) => thread.request({ history, final });
  return {
    ...local,
    ...proxied,
    ...(portal !== undefined && createThreadHistory(local, requestHistory)),
    requireFinal(block, findKnown) {
      // The thread has no access to the store: only the main thread checks endpoints that are below the block.
      final = block;
      local.requireFinal(block, findKnown);
    },
    close: () => thread.close(),
  };
}
