/** Worker of reader.ts: its own source, whose blocks are decoded here. */

import { serveThread } from "../../../shared/process/thread-work.ts";
import { SolanaUpstreamError } from "../../chain/port.ts";
import { createSolanaSource } from "../../chain/source.ts";
import {
  createLocalReader,
  type ReaderFailure,
  type ReaderMessage,
  type ReaderRequest,
  type ReaderTask,
} from "./reader.ts";

serveThread<ReaderTask, ReaderRequest>({
  start({ urls, genesisHash }, post) {
    const send = (message: ReaderMessage) => post(message);
    const source = createSolanaSource({
      urls,
      ...(genesisHash !== undefined && { genesisHash }),
      log: (message, fields) => send({ kind: "log", message, fields }),
      onEvent: (event) => send({ kind: "event", event }),
    });
    const reader = createLocalReader(source);
    return ({ range, anchor }) => {
      source.setAnchor(anchor);
      return reader.blocks(range);
    };
  },
  toFailure: (error): ReaderFailure => ({
    isUpstream: error instanceof SolanaUpstreamError,
    message: error instanceof Error ? error.message : String(error),
  }),
});
