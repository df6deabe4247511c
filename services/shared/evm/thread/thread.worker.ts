/** The other side of thread.ts: a source of its own that answers by messages. */
import { serveThread } from "../../process/thread-work.ts";
import { createEvmSource } from "../source/source.ts";
import {
  askSource,
  type ThreadQuestion,
  type ThreadTask,
  type ThreadWord,
  toFailure,
} from "./thread-requests.ts";

serveThread<ThreadTask, ThreadQuestion>({
  start({ chainId, urls, options = {} }, tell) {
    const say = (word: ThreadWord) => tell(word);
    const source = createEvmSource({
      chainId,
      urls,
      options,
      log: (message, fields) => say({ kind: "log", message, fields }),
      onEvent: (event) => say({ kind: "event", event }),
    });
    return (question) => {
      if (question.final !== undefined) source.requireFinal(question.final);
      return askSource(source, question);
    };
  },
  toFailure,
});
