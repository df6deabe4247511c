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
  start({ chainId, urls, options = {} }, tell) {
    const say = (word: ThreadMessage) => tell(word);
    const source = createEvmSource({
      chainId,
      urls,
      options,
      log: (message, fields) => say({ kind: "log", message, fields }),
      onEvent: (event) => say({ kind: "event", event }),
    });
    return (request) => {
      if (request.final !== undefined) source.requireFinal(request.final);
      return callSource(source, request);
    };
  },
  toFailure,
});
