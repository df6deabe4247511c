import { ReorgDetected } from "../../shared/chain-errors.ts";
import type { Finality } from "../../shared/evm/finality/finality.ts";
import type { StoredBlock } from "../../shared/evm/port.ts";
import type { SyncContext } from "../../shared/index/follow-head.ts";
import type { ChainGauges } from "../../shared/ingest/metrics.ts";
import { writeCopies } from "../../shared/storage/bulk-writer.ts";
import type { BulkWriter } from "../../shared/storage/port.ts";
import { type CheckpointRow, tokens } from "../store/collections.ts";
import { type IngestPipeline, prepareBatch, startWriteAdded } from "./apply.ts";
import type { BlockBatch } from "./fetch/block-batch.ts";
import type { Fetcher } from "./fetch/fetcher.ts";
import { createFetcher, healPipeline, openPipeline, type PipelineDeps } from "./pipeline.ts";
import { listUnread } from "./reads/balance-turns.ts";
import type { WrittenBatch } from "./retention/retention.ts";
import type { NewHead } from "./snapshots/snapshot-writer.ts";
import { readPriceStart } from "./start/price-start.ts";
import { describeNotice } from "./state/anchor-feeds.ts";
import { loadPrices } from "./state/load-indexer.ts";
import type { PoolEntry } from "./state/pool-book.ts";
import { readUndone, type Undone } from "./undo/heal.ts";
import { rollbackTo } from "./undo/rollback.ts";
import { patienceOver, Unwritten } from "./unwritten.ts";
import { WriteBehind } from "./write-behind.ts";

/** How often the aggregators of feeds are read again. */
const FEED_CHECK_BLOCKS = 1_000;

export interface BatchWriterDeps extends PipelineDeps, Pick<SyncContext, "signal"> {
  readonly gauges?: ChainGauges | undefined;
  /** Called when the index has come to the head, before it goes on. */
  readonly onHead?: (head: NewHead) => Promise<void>;
  /** Called after each written batch, before more is added where it is due. */
  readonly afterBatch?: (batch: WrittenBatch) => Promise<void>;
  /** Whether `afterBatch` has anything to do; absent = always. */
  readonly isAfterBatchDue?: (batch: WrittenBatch) => boolean;
  /** Longest that events of a backfill wait for a write; absent = as by patienceOver. */
  readonly backfillWriteMs?: number | undefined;
  /** Writes a long run of blocks, closed after it. Absent = the store itself does. */
  readonly openBulkWriter?: () => BulkWriter;
}

/** Where the chain is while a batch is added or written. */
interface Progress {
  readonly head: number;
  /** Whether the backfill is over. */
  readonly isFollowing: boolean;
}

/**
 * Adds batches to a pipeline and writes them with their checkpoint. A pipeline that has failed on the way, or whose store
 * was rolled back without it, is opened anew before the next batch.
 */
export class BatchWriter {
  readonly #deps: BatchWriterDeps;
  readonly #finality: Finality;
  #checkpoint: CheckpointRow;
  #pipeline: IngestPipeline;
  #fetcher: Fetcher;
  /** What the pipeline has added since the checkpoint. */
  readonly #unwritten: Unwritten;
  /** What is being written while more is added. */
  readonly #behind = new WriteBehind();
  /** Of a long run of blocks. */
  #bulkWriter: BulkWriter | undefined;
  /** The store was rolled back, and the pipeline is not yet. */
  #isBehindStore = false;

  private constructor(
    deps: BatchWriterDeps,
    at: { checkpoint: CheckpointRow; pipeline: IngestPipeline; finality: Finality },
  ) {
    this.#deps = deps;
    this.#unwritten = new Unwritten(patienceOver(deps.store, deps.backfillWriteMs));
    this.#finality = at.finality;
    this.#checkpoint = at.checkpoint;
    this.#pipeline = at.pipeline;
    this.#fetcher = createFetcher(deps, at.pipeline);
  }

  static async open(
    deps: BatchWriterDeps,
    { checkpoint, finality }: { checkpoint: CheckpointRow; finality: Finality },
  ): Promise<BatchWriter> {
    const pipeline = await openPipeline(deps, checkpoint);
    return new BatchWriter(deps, { checkpoint, finality, pipeline });
  }

  get checkpoint(): CheckpointRow {
    return this.#checkpoint;
  }

  /** Reads batches for the pipeline. */
  get fetcher(): Fetcher {
    return this.#fetcher;
  }

  get pipeline(): IngestPipeline {
    return this.#pipeline;
  }

  /** Whether what was added is to be written now. */
  get isDue(): boolean {
    return this.#unwritten.isDue(this.#pipeline.indexer.waiting);
  }

  /**
   * A long run of blocks: within it `writeBehind` does not wait. All that was added is written at its end, also where the
   * run fails.
   */
  async run(progress: () => Progress, work: () => Promise<void>): Promise<void> {
    const writer = this.#deps.openBulkWriter?.() ?? writeCopies(this.#deps.store);
    this.#bulkWriter = writer;
    try {
      try {
        await work();
      } finally {
        // What came before an error is kept.
        await this.write(progress());
      }
    } finally {
      this.#bulkWriter = undefined;
      await writer.close();
    }
  }

  /** Adds and writes a batch, however it was fetched. Throws ReorgDetected unless it follows on the checkpoint. */
  async apply(batch: BlockBatch, progress: Progress): Promise<void> {
    await this.add(batch, progress);
    await this.write(progress);
  }

  /** Adds a batch to the pipeline. Throws ReorgDetected unless it follows on what is there. */
  async add(batch: BlockBatch, progress: Progress): Promise<void> {
    const { head } = progress;
    await this.#reopen();
    const last = this.#last;
    if (batch.parent.number !== last.number || batch.parent.hash !== last.hash) {
      const { number, hash } = batch.parent;
      throw new ReorgDetected(
        `Block ${number + 1} follows on ${hash}, not on block ${last.number}, ${last.hash}.`,
      );
    }
    await this.#priceStart();
    await this.#rereadFeeds(head);
    if (batch.last.number === head) {
      // State is read of its blocks alone, and stands on what is stored.
      await this.write(progress);
      await this.#claimUnread(head);
    }
    await prepareBatch(this.#pipeline, { batch, checkpoint: this.#checkpoint, chainHead: head });
    this.#unwritten.add(this.#pipeline.indexer, batch);
  }

  /** The last block that was added. */
  get #last(): Pick<StoredBlock, "number" | "hash"> {
    const { blockNumber, blockHash } = this.#checkpoint;
    return this.#unwritten.last?.last ?? this.#behind.block ?? { number: blockNumber, hash: blockHash };
  }

  /**
   * Writes what was added; nothing is under way afterwards.
   * @param onWritten is told how many events
   */
  async write(progress: Progress, onWritten?: (events: number) => void): Promise<void> {
    await this.#start(progress, onWritten);
    await this.#behind.settled();
  }

  /** Begins to write what was added, and within a long run of blocks lets more be added meanwhile. As `write` else. */
  async writeBehind(progress: Progress, onWritten?: (events: number) => void): Promise<void> {
    const mayWait = await this.#start(progress, onWritten);
    if (!mayWait || this.#bulkWriter === undefined) await this.#behind.settled();
  }

  /** Begins to write once what is under way is done. Returns whether what follows may wait for more to be added. */
  async #start(
    { head, isFollowing }: Progress,
    onWritten: (events: number) => void = () => {},
  ): Promise<boolean> {
    await this.#behind.settled();
    const taken = this.#unwritten.take();
    if (taken === undefined) return true;
    const { batch, events } = taken;
    const reachesHead = batch.last.number === head;
    const started = await startWriteAdded(
      this.#pipeline,
      {
        batch,
        checkpoint: this.#checkpoint,
        chainHead: head,
        // Blocks on the way there are followed by others within moments.
        observe: reachesHead,
      },
      this.#bulkWriter ?? this.#deps.store,
    );
    this.#unwritten.settle();
    const { checkpoint } = started;
    const written = { checkpoint, events, isFollowing };
    const { afterBatch, gauges, isAfterBatchDue = () => true, onHead } = this.#deps;
    this.#behind.start({
      block: batch.last,
      written: started.written,
      onFailure: () => this.#unwritten.fail(),
      onWritten: async () => {
        started.settle();
        this.#checkpoint = checkpoint;
        onWritten(events);
        await this.#reportFeeds();
        this.#finality.follow(batch.last, { isHead: reachesHead });
        gauges?.setIndexedBlock({ number: batch.last.number, time: batch.last.time, events });
        if (reachesHead) await onHead?.(started);
        await afterBatch?.(written);
      },
    });
    return !reachesHead && (afterBatch === undefined || !isAfterBatchDue(written));
  }

  /** Takes store and pipeline back to a block. Where that fails on the way, the next batch or rollback goes on with it. */
  async rollback(target: StoredBlock): Promise<void> {
    const { store, chain, guard, log } = this.#deps;
    const { blockNumber, fromBlock } = this.#checkpoint;
    const isHealed = !this.#unwritten.isBroken && !this.#isBehindStore && target.number >= fromBlock;
    const { indexer } = this.#pipeline;
    const undone = isHealed ? await readUndone(store, { indexer, target: target.number }) : undefined;
    this.#isBehindStore = true;
    const observed = undone?.changed;
    const removed = await rollbackTo(store, { checkpoint: this.#checkpoint, target, guard, observed });
    log(
      "warn",
      `Chain ${chain.chainId} reorganised ${blockNumber - target.number} blocks down to ${target.number}; ${removed} events undone.`,
    );
    this.#checkpoint = {
      ...this.#checkpoint,
      blockNumber: target.number,
      blockHash: target.hash,
      blockTime: target.time,
    };
    await this.#reopen(undone);
  }

  /** Loads all books again, at a checkpoint that is stored. */
  async restart(checkpoint: CheckpointRow): Promise<void> {
    this.#checkpoint = checkpoint;
    this.#use(await openPipeline(this.#deps, checkpoint));
  }

  #use(pipeline: IngestPipeline): void {
    this.#pipeline = pipeline;
    this.#fetcher = createFetcher(this.#deps, pipeline);
  }

  /** Before the first block: the prices that follow from pools older than the index. */
  async #priceStart(): Promise<void> {
    const { store, chain } = this.#deps;
    const { feedContracts } = this.#pipeline;
    const context = { ...this.#deps, anchors: chain.stablecoins, feedContracts };
    const isRead = await readPriceStart(context, this.#checkpoint);
    if (isRead) await loadPrices(store, { indexer: this.#pipeline.indexer, anchors: chain.stablecoins });
  }

  /** A feed's proxy moves to another aggregator every few years, without an event that tells. */
  async #rereadFeeds(head: number): Promise<void> {
    const { feedContracts } = this.#pipeline;
    if (feedContracts.isEmpty || head - feedContracts.readAt < FEED_CHECK_BLOCKS) return;
    await feedContracts.load(this.#deps.source, head);
  }

  async #reportFeeds(): Promise<void> {
    const { store, chain, log } = this.#deps;
    for (const notice of this.#pipeline.indexer.prices.feeds.takeNotices()) {
      const row = await store.get(tokens, { chainId: chain.chainId, address: notice.token });
      log("warn", describeNotice(notice, row?.symbol ?? notice.token), { token: notice.token });
    }
  }

  /**
   * Balances that earlier blocks or a rollback left unread, and those whose turn it is, are read with the blocks that
   * reach the head, where every node has the state, and written with their checkpoint: between two checkpoints no
   * response changes.
   */
  async #claimUnread(head: number): Promise<void> {
    const { indexer } = this.#pipeline;
    const unread = listUnread(indexer.pools.observed, head);
    await indexer.pools.prepare(unread);
    for (const pool of unread) indexer.touch(indexer.pools.get(pool) as PoolEntry);
  }

  /** Brings a pipeline back to the checkpoint that is behind its store or broken; loads it anew where `undone` is not known. */
  async #reopen(undone?: Undone): Promise<void> {
    if (!this.#isBehindStore && !this.#unwritten.isBroken) return;
    const checkpoint = this.#checkpoint;
    this.#use(
      undone === undefined
        ? await openPipeline(this.#deps, checkpoint)
        : await healPipeline(this.#deps, this.#pipeline, { checkpoint, undone }),
    );
    this.#unwritten.clear();
    this.#isBehindStore = false;
  }
}
