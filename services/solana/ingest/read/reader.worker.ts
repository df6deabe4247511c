/** The other side of reader.ts: a source of its own whose blocks are decoded here. */

import { serveThread } from "../../../shared/process/thread-work.ts";
import { SolanaUpstreamError } from "../../chain/port.ts";
import { createSolanaSource } from "../../chain/source.ts";
import {
  type ReaderFailure,
  type ReaderQuestion,
  type ReaderTask,
  type ReaderWord,
  readHere,
} from "./reader.ts";

serveThread<ReaderTask, ReaderQuestion>({
  start({ urls, genesisHash }, tell) {
    const say = (word: ReaderWord) => tell(word);
    const source = createSolanaSource({
      urls,
      ...(genesisHash !== undefined && { genesisHash }),
      log: (message, fields) => say({ kind: "log", message, fields }),
      onEvent: (event) => say({ kind: "event", event }),
    });
    const reader = readHere(source);
    return ({ range, anchor }) => {
      source.anchor(anchor);
      return reader.blocks(range);
    };
  },
  toFailure: (error): ReaderFailure => ({
    isUpstream: error instanceof SolanaUpstreamError,
    message: error instanceof Error ? error.message : String(error),
  }),
});
