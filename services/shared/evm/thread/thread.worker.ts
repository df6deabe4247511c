/** The worker of thread.ts: a source of its own that responds by messages. */
import { serveThread } from "../../process/thread-work.ts";
import { withPortal } from "../portal/with-portal.ts";
import { createEvmSource, type SourceEvent, type SourceLog } from "../source/source.ts";
import { serveHistories } from "./thread-history.ts";
import {
  callSource,
  type ThreadMessage,
  type ThreadRequest,
  type ThreadTask,
  toFailure,
} from "./thread-messages.ts";

serveThread<ThreadTask, ThreadRequest>({
  start({ chainId, urls, options = {}, portal }, post) {
    const send = (message: ThreadMessage) => post(message);
    const log: SourceLog = (message, fields) => send({ kind: "log", message, fields });
    const onEvent = (event: SourceEvent) => send({ kind: "event", event });
    const nodes = createEvmSource({ chainId, urls, options, log, onEvent });
    const source = portal === undefined ? nodes : withPortal(nodes, { ...portal, log });
    const answerHistory = serveHistories(source);
    return (request) => {
      if (request.final !== undefined) source.requireFinal(request.final);
      return "history" in request ? answerHistory(request.history) : callSource(source, request);
    };
  },
  toFailure,
});
