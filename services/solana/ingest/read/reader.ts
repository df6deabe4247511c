import type { Worker } from "node:worker_threads";
import { createThread, createThreadClient } from "../../../shared/process/thread-work.ts";
import type { SourceEvent } from "../../../shared/rpc-client/endpoint/endpoint.ts";
import { type ChainAnchor, type SolanaSource, SolanaUpstreamError } from "../../chain/port.ts";
import type { SolanaSourceConfig } from "../../chain/source.ts";
import { type BlockReader, type DecodedBlock, type SlotRange, toDecodedBlock } from "./decoded-block.ts";

/** First message to the reading thread: its endpoints. */
export interface ReaderTask {
  readonly urls: readonly string[];
  readonly genesisHash: string | undefined;
}

/** Request to the thread: a range, with the index's current anchor. */
export interface ReaderRequest {
  readonly range: SlotRange;
  readonly anchor: ChainAnchor;
}

/** Messages of the thread besides blocks. */
export type ReaderMessage =
  | { readonly kind: "log"; readonly message: string; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly kind: "event"; readonly event: SourceEvent };

/** Blocks are garbage once decoded: without a low limit the heap would grow instead of being collected. */
const MEMORY_LIMITS = { maxOldGenerationSizeMb: 192 };

export interface ReaderFailure {
  readonly isUpstream: boolean;
  readonly message: string;
}

/** Reads and decodes in this thread. */
export function createLocalReader(source: Pick<SolanaSource, "blocks">): BlockReader {
  return { blocks: async (range) => (await source.blocks(range)).map(toDecodedBlock) };
}

export interface ThreadedReader extends BlockReader {
  close(): Promise<void>;
}

/**
 * Reads and decodes in a thread of its own: fetching, parsing and decoding full blocks is as much work as writing their
 * rows. `source` serves requests until the thread is up, and if it dies.
 */
export function createThreadedReader(
  source: Pick<SolanaSource, "blocks" | "getAnchor">,
  config: Pick<SolanaSourceConfig, "urls" | "genesisHash" | "log" | "onEvent"> & {
    readonly startWorker?: () => Worker;
  },
): ThreadedReader {
  const { urls, genesisHash, log = () => {}, onEvent = () => {} } = config;
  const here = createLocalReader(source);
  const startWorker =
    config.startWorker ?? (() => createThread("reader.worker", import.meta.url, MEMORY_LIMITS));
  const thread = createThreadClient<ReaderRequest>({
    worker: startWorker(),
    task: { urls, genesisHash } satisfies ReaderTask,
    fallback: ({ range }) => here.blocks(range),
    toError(failure) {
      const { isUpstream, message } = failure as ReaderFailure;
      return isUpstream ? new SolanaUpstreamError(message) : new Error(message);
    },
    onMessage(what) {
      const word = what as ReaderMessage;
      if (word.kind === "log") log(word.message, word.fields);
      else onEvent(word.event);
    },
    onFailure: (reason) => log("the reading thread failed: reading continues without it", { reason }),
    closedError: ({ range }) =>
      new SolanaUpstreamError(`solana: slots ${range.fromSlot}-${range.toSlot} cancelled: closed`),
  });
  return {
    blocks: async (range) => (await thread.request({ range, anchor: source.getAnchor() })) as DecodedBlock[],
    close: () => thread.close(),
  };
}
