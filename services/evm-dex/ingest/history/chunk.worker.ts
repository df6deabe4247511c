/** The worker of chunk-thread.ts: indexes a chunk with a source and stores of its own. */
import { withPortal } from "../../../shared/evm/portal/with-portal.ts";
import { createEvmSource, type SourceLog } from "../../../shared/evm/source/source.ts";
import { readInThread, type ThreadConfig } from "../../../shared/evm/thread/thread.ts";
import { serveThread } from "../../../shared/process/thread-work.ts";
import type { SourceEvent } from "../../../shared/rpc-client/endpoint/endpoint.ts";
import { openStoreInThread } from "../../../shared/storage/open-in-thread.ts";
import { COLLECTIONS } from "../../store/collections.ts";
import { SQLITE_FILE } from "../../store/sqlite-file.ts";
import type { ChunkMessage, ChunkTask } from "./chunk-thread.ts";
import { runChunksHere } from "./run-chunk.ts";
import type { PlannedChunk } from "./scratch.ts";

serveThread<ChunkTask, PlannedChunk>({
  start({ store: { dataDir, mongodbUrl }, folder, urls, portal, chain, maxAddresses }, post) {
    const send = (message: ChunkMessage) => post(message);
    const log: SourceLog = (message, fields) => send({ kind: "log", level: "warn", message, fields });
    const onEvent = (event: SourceEvent) => send({ kind: "event", event });
    const config: ThreadConfig = { chainId: chain.chainId, urls, log, onEvent, portal };
    const nodes = createEvmSource(config);
    const source = portal === undefined ? nodes : withPortal(nodes, { ...portal, log });
    return async (planned) => {
      const store = await openStoreInThread({
        service: "evm-dex",
        dataDir,
        // As the ingest itself.
        mappedBytes: 0,
        ...SQLITE_FILE,
        ...(mongodbUrl !== undefined && { mongodbUrl }),
      });
      try {
        await store.declare(COLLECTIONS);
        const run = runChunksHere({
          ...{ store, source, chain, folder, maxAddresses },
          openBulkSource: () => readInThread(source, config),
          log: (level, message, fields = {}) => send({ kind: "log", level, message, fields }),
        });
        // The thread is terminated where the chunk is to end early.
        const { signal } = new AbortController();
        return await run(planned, { signal, onBatch: (batch) => send({ kind: "batch", batch }) });
      } finally {
        await store.close();
        await source.close();
      }
    };
  },
  toFailure: (error) => (error instanceof Error ? error.message : String(error)),
});
