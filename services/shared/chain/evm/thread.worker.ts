/** The other side of thread.ts: a source of its own that answers by messages. */
import { parentPort } from "node:worker_threads";
import { createEvmSource } from "./source.ts";
import {
  askSource,
  type ThreadQuestion,
  type ThreadTask,
  type ThreadWord,
  toFailure,
} from "./thread-questions.ts";

const port = parentPort;
if (port === null) throw new Error("This file runs as a worker thread only.");

const say = (word: ThreadWord) => port.postMessage(word);

port.once("message", ({ chainId, urls, options = {} }: ThreadTask) => {
  const source = createEvmSource({
    chainId,
    urls,
    options,
    log: (message, fields) => say({ kind: "log", message, fields }),
    onEvent: (event) => say({ kind: "event", event }),
  });
  port.on("message", (question: ThreadQuestion) => {
    const { id } = question;
    askSource(source, question).then(
      (value) => say({ kind: "answer", id, value }),
      (error: unknown) => say({ kind: "failure", id, failure: toFailure(error) }),
    );
  });
  say({ kind: "ready" });
});
