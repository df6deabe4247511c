import { ReorgDetected } from "../../../shared/chain-errors.ts";
import { headerAt } from "../../../shared/evm/finality/genesis.ts";
import type { EvmSource } from "../../../shared/evm/port.ts";
import type { SyncLog } from "../../../shared/index/follow-head.ts";
import type { Store } from "../../../shared/storage/port.ts";
import type { ChainDeployments } from "../../deployments.ts";
import type { CheckpointRow } from "../../store/collections.ts";
import { getCheckpoint } from "../../store/queries.ts";
import { NewPoolsFound, prepareBatch, writeAdded } from "../apply.ts";
import { readBackfill } from "../fetch/backfill.ts";
import { prefetchNext } from "../fetch/prefetch.ts";
import { createFetcher, openPipeline } from "../pipeline.ts";
import { readPriceStart } from "../start/price-start.ts";
import { blockBefore } from "../start-block.ts";
import { loadPrices } from "../state/load-indexer.ts";
import { type Patience, Unwritten } from "../unwritten.ts";
import { startSteps } from "../write.ts";
import type { HistoryChunk } from "./chunk.ts";

export interface ChunkContext {
  /** Layered over the index's store: see layeredStore. */
  readonly store: Store;
  readonly source: EvmSource;
  readonly chain: ChainDeployments;
  readonly signal: AbortSignal;
  readonly log: SyncLog;
  readonly maxAddresses?: number | undefined;
  /** How much waits for a write; all but tests use the default. */
  readonly patience?: Patience | undefined;
  /** Called after each batch, with its events. */
  readonly onBatch?: (batch: { block: number; time: number; events: number }) => void;
}

/**
 * Where events do not stay, a write has the row of each pool, bucket and user once, and the events of its last five minutes: of more
 * events together less is written for each. A kill undoes what waits.
 */
const PATIENCE = { mostEvents: 80_000 };

/**
 * Indexes a chunk as an index of its own, from the warm-up on; goes on where a killed run stopped. Returns false where
 * the signal ended it. Throws ReorgDetected unless its last block is the parent of the index's first one.
 * @param parentHash hash of the last block of the chunk
 */
export async function indexChunk(
  context: ChunkContext,
  { chunk, parentHash }: { chunk: HistoryChunk; parentHash: string },
): Promise<boolean> {
  const { signal, log } = context;
  for (;;) {
    try {
      const last = await indexUpTo(context, chunk);
      if (signal.aborted) return false;
      if (last.blockHash === parentHash) return true;
      throw new ReorgDetected(
        `History ends with block ${last.blockNumber}, ${last.blockHash}; the index follows on ${parentHash}.`,
      );
    } catch (error) {
      if (!(error instanceof NewPoolsFound)) throw error;
      log("warn", error.message);
    }
  }
}

async function indexUpTo(context: ChunkContext, chunk: HistoryChunk): Promise<CheckpointRow> {
  const { store, source, chain, signal } = context;
  const guard = () => [];
  let checkpoint = (await getCheckpoint(store, chunk.chainId)) ?? (await startChunk(context, chunk));
  if (checkpoint.blockNumber >= chunk.to) return checkpoint;
  const deps = { ...context, guard, detail: chunk.detail };
  const pipeline = await openPipeline(deps, checkpoint);
  const { feedContracts, indexer } = pipeline;
  const anchors = chain.stablecoins;
  if (await readPriceStart({ ...deps, anchors, feedContracts, mayReadHead: false }, checkpoint))
    await loadPrices(store, { indexer, anchors });
  const fetcher = createFetcher(deps, pipeline);
  const { number: chainHead } = await source.head();
  const from = checkpoint.blockNumber + 1;
  const unwritten = new Unwritten(context.patience ?? (chunk.detail === "events" ? {} : PATIENCE));
  const write = async () => {
    const taken = unwritten.take();
    if (taken === undefined) return;
    const { batch, events } = taken;
    ({ checkpoint } = await writeAdded(pipeline, { batch, checkpoint, chainHead, observe: false }));
    unwritten.settle();
    context.onBatch?.({ block: checkpoint.blockNumber, time: checkpoint.blockTime, events });
  };
  const batches = readBackfill({ source, fetcher, from, to: chunk.to, signal });
  try {
    for await (const batch of prefetchNext(batches)) {
      const last = unwritten.last?.last.hash ?? checkpoint.blockHash;
      if (batch.parent.hash !== last)
        throw new ReorgDetected(
          `Block ${batch.parent.number + 1} of the history follows on ${batch.parent.hash}, not on ${last}.`,
        );
      await prepareBatch(pipeline, { batch, checkpoint, chainHead });
      unwritten.add(indexer, batch);
      if (unwritten.isDue(indexer.waiting)) await write();
      if (signal.aborted) break;
    }
  } finally {
    // What came before an error is kept.
    await write();
  }
  return checkpoint;
}

async function startChunk(
  { store, source, chain }: ChunkContext,
  chunk: HistoryChunk,
): Promise<CheckpointRow> {
  const before = await blockBefore(source, chunk.warmFrom);
  const first = await headerAt(source, chunk.warmFrom);
  const checkpoint: CheckpointRow = {
    chainId: chunk.chainId,
    blockNumber: before.number,
    blockHash: before.hash,
    blockTime: before.time,
    fromBlock: chunk.warmFrom,
    fromTime: first.timestamp,
    chainHead: chunk.to,
    genesisHash: "",
  };
  await store.write(startSteps(checkpoint, chain.stablecoins));
  return checkpoint;
}
