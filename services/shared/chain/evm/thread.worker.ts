/** The other side of thread.ts: a source of its own that answers by messages. */
import { parentPort, workerData } from "node:worker_threads";
import { createEvmSource, type EvmSourceConfig } from "./source.ts";
import { askSource, type ThreadQuestion, type ThreadWord, toFailure } from "./thread-questions.ts";

const port = parentPort;
if (port === null) throw new Error("This file runs as a worker thread only.");

const say = (word: ThreadWord) => port.postMessage(word);
const { chainId, urls, options = {} } = workerData as EvmSourceConfig;
const source = createEvmSource({
  chainId,
  urls,
  options,
  log: (message, fields) => say({ kind: "log", message, fields }),
});

port.on("message", (question: ThreadQuestion) => {
  const { id } = question;
  askSource(source, question).then(
    (value) => say({ kind: "answer", id, value }),
    (error: unknown) => say({ kind: "failure", id, failure: toFailure(error) }),
  );
});
say({ kind: "ready" });
