import type { Worker } from "node:worker_threads";
import { createThread, createThreadClient } from "../../../shared/process/thread-work.ts";
import type { SourceEvent } from "../../../shared/rpc-client/endpoint/endpoint.ts";
import {
  type ChainAnchor,
  type SlotRange,
  type SolanaSource,
  SolanaUpstreamError,
} from "../../chain/port.ts";
import type { SolanaSourceConfig } from "../../chain/source.ts";
import type { StreamState } from "./block-stream.ts";
import { type BlockReader, type DecodedBlock, joinDecodedBlock, readTransaction } from "./decoded-block.ts";
import type { PortalTask } from "./portal-reader.ts";
import type { StreamTask } from "./stream-task.ts";
import { StreamContradicted } from "./streamed-reader.ts";

/** First message to the reading thread: its endpoints. */
export interface ReaderTask {
  readonly urls: readonly string[];
  readonly genesisHash: string | undefined;
  readonly withHolders: boolean;
  readonly stream: StreamTask | undefined;
  readonly portal: PortalTask | undefined;
}

/** Request to the thread: a range, with the index's current anchor. */
export interface ReaderRequest {
  readonly range: SlotRange;
  readonly anchor: ChainAnchor;
  /** What the stream was last told, counted: see BlockReader. */
  readonly order: StreamOrder;
}

export interface StreamOrder {
  readonly id: number;
  readonly followFrom: number | undefined;
  readonly isDistrusted: boolean;
}

/** Messages of the thread besides blocks. */
export type ReaderMessage =
  | { readonly kind: "log"; readonly message: string; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly kind: "event"; readonly event: SourceEvent }
  | { readonly kind: "stream"; readonly state: StreamState };

/** Blocks are garbage once decoded: without a low limit the heap would grow instead of being collected. */
const MEMORY_LIMITS = { maxOldGenerationSizeMb: 192 };

export interface ReaderFailure {
  readonly isUpstream: boolean;
  readonly message: string;
  /** See StreamContradicted. */
  readonly contradictedFrom: number | undefined;
}

/** Makes the thread look at the order, and read nothing. */
const NO_SLOTS: SlotRange = { fromSlot: 1, toSlot: 0, commitment: "confirmed" };

/** Reads and decodes in this thread. */
export function createLocalReader(
  source: Pick<SolanaSource, "readBlocks">,
  { withHolders = true } = {},
): BlockReader {
  return {
    async blocks(range) {
      const blocks = await source.readBlocks(range, (transaction) => readTransaction(transaction));
      return blocks.map((block) => joinDecodedBlock(block, { withHolders }));
    },
  };
}

export interface ThreadedReader extends BlockReader {
  close(): Promise<void>;
}

/**
 * Reads and decodes in a thread of its own: fetching, parsing and decoding full blocks is as much work as writing their
 * rows. `source` serves requests until the thread is up, and if it dies.
 */
export function createThreadedReader(
  source: Pick<SolanaSource, "readBlocks" | "getAnchor">,
  config: Pick<SolanaSourceConfig, "urls" | "genesisHash" | "log" | "onEvent"> & {
    readonly startWorker?: () => Worker;
    /** Default true. */
    readonly withHolders?: boolean;
    /** Read by the thread alone. */
    readonly stream?: StreamTask | undefined;
    /** The same. */
    readonly portal?: PortalTask | undefined;
    readonly onStream?: (state: StreamState) => void;
  },
): ThreadedReader {
  const {
    urls,
    genesisHash,
    log = () => {},
    onEvent = () => {},
    withHolders = true,
    stream,
    portal,
  } = config;
  const here = createLocalReader(source, { withHolders });
  let order: StreamOrder = { id: 0, followFrom: undefined, isDistrusted: false };
  const startWorker =
    config.startWorker ?? (() => createThread("reader.worker", import.meta.url, MEMORY_LIMITS));
  const thread = createThreadClient<ReaderRequest>({
    worker: startWorker(),
    task: { urls, genesisHash, withHolders, stream, portal } satisfies ReaderTask,
    fallback: ({ range }) => here.blocks(range),
    toError(failure) {
      const { isUpstream, message, contradictedFrom } = failure as ReaderFailure;
      if (contradictedFrom !== undefined) return new StreamContradicted(message, contradictedFrom);
      return isUpstream ? new SolanaUpstreamError(message) : new Error(message);
    },
    onMessage(what) {
      const word = what as ReaderMessage;
      if (word.kind === "log") log(word.message, word.fields);
      else if (word.kind === "stream") config.onStream?.(word.state);
      else onEvent(word.event);
    },
    onFailure(reason) {
      log("the reading thread failed: reading continues without it", { reason });
      config.onStream?.({ head: undefined });
    },
    closedError: ({ range }) =>
      new SolanaUpstreamError(`solana: slots ${range.fromSlot}-${range.toSlot} cancelled: closed`),
  });
  return {
    blocks: async (range) =>
      (await thread.request({ range, anchor: source.getAnchor(), order })) as DecodedBlock[],
    follow(followFrom) {
      order = { id: order.id + 1, followFrom, isDistrusted: false };
      // The thread ends its stream at once.
      if (followFrom === undefined)
        void thread.request({ range: NO_SLOTS, anchor: source.getAnchor(), order }).catch(() => {});
    },
    distrust() {
      order = { ...order, id: order.id + 1, isDistrusted: true };
    },
    close: () => thread.close(),
  };
}
