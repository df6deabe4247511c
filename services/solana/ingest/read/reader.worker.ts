/** Worker of reader.ts: its own source, whose blocks are decoded here. */

import { serveThread } from "../../../shared/process/thread-work.ts";
import { SolanaUpstreamError } from "../../chain/port.ts";
import { createSolanaSource } from "../../chain/source.ts";
import type { StreamState } from "./block-stream.ts";
import { openPortalReader } from "./portal-reader.ts";
import {
  createLocalReader,
  type ReaderFailure,
  type ReaderMessage,
  type ReaderRequest,
  type ReaderTask,
} from "./reader.ts";
import { openStreamedReader } from "./stream-task.ts";
import { StreamContradicted } from "./streamed-reader.ts";

serveThread<ReaderTask, ReaderRequest>({
  start({ urls, genesisHash, withHolders, stream, portal }, post) {
    const send = (message: ReaderMessage) => post(message);
    const log = (message: string, fields: Readonly<Record<string, unknown>>) =>
      send({ kind: "log", message, fields });
    const source = createSolanaSource({
      urls,
      ...(genesisHash !== undefined && { genesisHash }),
      log,
      onEvent: (event) => send({ kind: "event", event }),
    });
    const whole = createLocalReader(source, { withHolders });
    const onState = (state: StreamState) => send({ kind: "stream", state });
    const streamed =
      stream === undefined ? whole : openStreamedReader(stream, { reader: whole, source, log, onState });
    const reader =
      portal === undefined ? streamed : openPortalReader(portal, { whole, reader: streamed, source, log });
    let heard = 0;
    return async ({ range, anchor, order }) => {
      source.setAnchor(anchor);
      if (order.id !== heard) {
        heard = order.id;
        reader.follow?.(order.followFrom);
        if (order.isDistrusted) reader.distrust?.();
      }
      return range.toSlot < range.fromSlot ? [] : reader.blocks(range);
    };
  },
  toFailure: (error): ReaderFailure => ({
    isUpstream: error instanceof SolanaUpstreamError,
    message: error instanceof Error ? error.message : String(error),
    contradictedFrom: error instanceof StreamContradicted ? error.fromSlot : undefined,
  }),
});
