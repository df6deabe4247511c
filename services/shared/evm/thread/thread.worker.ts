/** The worker of thread.ts: a source of its own that responds by messages. */
import { serveThread } from "../../process/thread-work.ts";
import { createEvmSource } from "../source/source.ts";
import {
  callSource,
  type ThreadMessage,
  type ThreadRequest,
  type ThreadTask,
  toFailure,
} from "./thread-messages.ts";

serveThread<ThreadTask, ThreadRequest>({
  start({ chainId, urls, options = {} }, post) {
    const send = (message: ThreadMessage) => post(message);
    const source = createEvmSource({
      chainId,
      urls,
      options,
      log: (message, fields) => send({ kind: "log", message, fields }),
      onEvent: (event) => send({ kind: "event", event }),
    });
    return (request) => {
      if (request.final !== undefined) source.requireFinal(request.final);
      return callSource(source, request);
    };
  },
  toFailure,
});
