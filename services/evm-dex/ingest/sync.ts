import { ReorgDetected } from "../../shared/chain-errors.ts";
import { Finality } from "../../shared/evm/finality/finality.ts";
import { KEPT_HEADERS } from "../../shared/evm/finality/fork.ts";
import type { BlockHeader, EvmSource } from "../../shared/evm/port.ts";
import { indexedBlock } from "../../shared/index/evm/checkpoint.ts";
import { ForkFinder, indexIdentityOf } from "../../shared/index/evm/fork.ts";
import { followHead, type SyncContext } from "../../shared/index/follow-head.ts";
import type { ChainGauges } from "../../shared/ingest/metrics.ts";
import { Mutex } from "../../shared/process/mutex.ts";
import { guardedPut } from "../../shared/storage/lease.ts";
import type { WriteStep } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";
import { type CheckpointRow, checkpoints, tokens } from "../store/collections.ts";
import { type IngestPipeline, NewPoolsFound, prepareBatch, writeAdded } from "./apply.ts";
import type { BlockBatch } from "./fetch/block-batch.ts";
import { readTail, readUpTo, TAIL_BLOCKS } from "./fetch/catch-up.ts";
import type { Fetcher } from "./fetch/fetcher.ts";
import { prefetchNext } from "./fetch/prefetch.ts";
import { findLastRow, withinIndex } from "./fork.ts";
import { createFetcher, healPipeline, openPipeline } from "./pipeline.ts";
import { listUnread } from "./reads/balance-turns.ts";
import type { WrittenBatch } from "./retention/retention.ts";
import type { NewHead } from "./snapshots/snapshot-writer.ts";
import { readPriceStart } from "./start/price-start.ts";
import { blockBefore } from "./start-block.ts";
import { describeNotice } from "./state/anchor-feeds.ts";
import { loadPrices } from "./state/load-indexer.ts";
import type { PoolEntry } from "./state/pool-book.ts";
import { readUndone, type Undone } from "./undo/heal.ts";
import { rollbackTo } from "./undo/rollback.ts";
import { Unwritten } from "./unwritten.ts";

/** How often the aggregators of feeds are read again. */
const FEED_CHECK_BLOCKS = 1_000;

export interface SyncDeps extends SyncContext {
  readonly source: EvmSource;
  /** The same source for a long run of blocks, closed after it. Absent = `source` does for that too. */
  readonly openBulkSource?: () => EvmSource;
  readonly chain: ChainDeployments;
  readonly gauges?: ChainGauges | undefined;
  /** Called when the index has come to the head, before it goes on. */
  readonly onHead?: (head: NewHead) => Promise<void>;
  /** Called after each written batch, before the next one. */
  readonly afterBatch?: (batch: WrittenBatch) => Promise<void>;
  /** Contracts that one eth_getLogs may name. */
  readonly maxAddresses?: number | undefined;
}

/** Keeps the store of one chain equal to the chain: backfill, head, reorgs. */
export class ChainSync {
  readonly #deps: SyncDeps;
  #checkpoint: CheckpointRow;
  #pipeline: IngestPipeline;
  #fetcher: Fetcher;
  readonly #finality: Finality;
  readonly #forks: ForkFinder;
  #isFollowing = false;
  /** What the pipeline has added since the checkpoint. */
  readonly #unwritten = new Unwritten();
  /** The store was rolled back, and the pipeline is not yet. */
  #isBehindStore = false;
  /** One writer at a time: steps, reorgs, and the merging of history. */
  readonly #writer = new Mutex();

  private constructor(
    deps: SyncDeps,
    {
      finality,
      checkpoint,
      pipeline,
    }: { checkpoint: CheckpointRow; pipeline: IngestPipeline; finality: Finality },
  ) {
    this.#deps = deps;
    this.#finality = finality;
    this.#forks = new ForkFinder({ ...deps, finality, findLastRow });
    this.#checkpoint = checkpoint;
    this.#pipeline = pipeline;
    this.#fetcher = createFetcher(deps, pipeline);
  }

  /** Undoes what an interrupted write left above the checkpoint, and loads the rest. */
  static async open(deps: SyncDeps, checkpoint: CheckpointRow): Promise<ChainSync> {
    const finality = await Finality.open(deps, indexIdentityOf(deps.store, checkpoint, findLastRow));
    const undone = await rollbackTo(deps.store, {
      checkpoint,
      target: indexedBlock(checkpoint),
      guard: deps.guard,
    });
    if (undone > 0)
      deps.log(
        "info",
        `Undid ${undone} events that an interrupted write left above block ${checkpoint.blockNumber}.`,
      );
    return new ChainSync(deps, { checkpoint, finality, pipeline: await openPipeline(deps, checkpoint) });
  }

  /** Whether the backfill is over. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  get checkpoint(): CheckpointRow {
    return this.#checkpoint;
  }

  /** Nothing up to this block is undone any more. */
  get finalBlock(): number {
    return this.#finality.block.number;
  }

  /** See Finality.settled. */
  settled(): Promise<void> {
    return this.#finality.settled();
  }

  /** Until the signal. Throws IndexContradicted where every endpoint contradicts what is final. */
  async run(): Promise<void> {
    const { source, signal, log, gauges } = this.#deps;
    await followHead({
      source,
      signal,
      log,
      checkpoint: () => this.#checkpoint,
      step: async () => {
        const head = await source.head();
        gauges?.setHead(head);
        return this.step(head);
      },
      handleReorg: () => this.handleReorg(),
    });
  }

  /** One step towards `head`; returns whether there was anything to do. Throws ReorgDetected. */
  async step(head: BlockHeader): Promise<boolean> {
    try {
      return await this.#writer.run(() => this.#step(head));
    } catch (error) {
      if (!(error instanceof NewPoolsFound)) throw error;
      this.#deps.log("warn", error.message);
      return true;
    }
  }

  async #step(head: BlockHeader): Promise<boolean> {
    const behind = head.number - this.#checkpoint.blockNumber;
    if (behind < 0) {
      if (await this.#forks.isReorg(head, this.#checkpoint))
        throw new ReorgDetected(`The chain ends at block ${head.number}, on another branch than the index.`);
      return false;
    }
    this.#forks.resetLowerHeads();
    if (behind === 0) {
      if (head.hash !== this.#checkpoint.blockHash)
        throw new ReorgDetected(`Block ${head.number} of chain ${this.#deps.source.chainId} was replaced.`);
      this.#isFollowing = true;
      return false;
    }
    if (behind > KEPT_HEADERS) {
      await this.#checkCheckpoint();
      await this.#catchUp(head);
    } else {
      this.#isFollowing = true;
      const last = indexedBlock(this.#checkpoint);
      const { signal } = this.#deps;
      for await (const batch of readTail(last, { to: head.number, fetcher: this.#fetcher, signal }))
        await this.#apply(batch, { head: head.number });
    }
    return true;
  }

  /** Before many blocks are fetched: the first of them would show a reorg, but only once they are here. */
  async #checkCheckpoint(): Promise<void> {
    const { blockNumber, blockHash } = this.#checkpoint;
    if (blockNumber < 0) return;
    const [header] = await this.#deps.source.headers([blockNumber]);
    if (header?.hash !== blockHash)
      throw new ReorgDetected(`Block ${blockNumber} of chain ${this.#deps.source.chainId} was replaced.`);
  }

  /** From far behind up to the head, by the source for many blocks. */
  async #catchUp(head: BlockHeader): Promise<void> {
    const from = this.#checkpoint.blockNumber + 1;
    const bulk = this.#deps.openBulkSource?.();
    bulk?.requireFinal(this.#finality.block);
    const deps = { ...this.#deps, source: bulk ?? this.#deps.source };
    const { report } = deps;
    const onWait = (ms: number) => this.#unwritten.noteWait(ms);
    const fetcher = createFetcher(deps, this.#pipeline);
    const stop = new AbortController();
    const signal = AbortSignal.any([deps.signal, stop.signal]);
    try {
      const last = indexedBlock(this.#checkpoint);
      const steps = readUpTo(
        { last, head },
        { source: deps.source, heads: this.#deps.source, fetcher, signal },
      );
      for await (const { batch, head: top, to } of prefetchNext(steps, onWait)) {
        await this.#add(batch, { head: top });
        const isEnd = batch.last.number === to || deps.signal.aborted;
        if (!isEnd && !this.#unwritten.isDue(this.#pipeline.indexer.waiting)) continue;
        const events = await this.#write({ head: top });
        if (to !== undefined) report({ stage: "backfill", from, to, at: batch.last.number, events });
        if (deps.signal.aborted) return;
      }
      await this.#write({ head: head.number });
    } catch (error) {
      // What came before the error is kept.
      await this.#write({ head: head.number });
      throw error;
    } finally {
      stop.abort();
      await bulk?.close();
    }
  }

  /** Adds and writes a batch, however it was fetched. Throws ReorgDetected unless it follows on the checkpoint. */
  async #apply(batch: BlockBatch, { head }: { head: number }): Promise<void> {
    await this.#add(batch, { head });
    await this.#write({ head });
  }

  /** Adds a batch to the pipeline. Throws ReorgDetected unless it follows on what is there. */
  async #add(batch: BlockBatch, { head }: { head: number }): Promise<void> {
    await this.#reopen();
    const { blockNumber, blockHash } = this.#checkpoint;
    const last = this.#unwritten.last?.last ?? { number: blockNumber, hash: blockHash };
    if (batch.parent.number !== last.number || batch.parent.hash !== last.hash) {
      const { number, hash } = batch.parent;
      throw new ReorgDetected(
        `Block ${number + 1} follows on ${hash}, not on block ${last.number}, ${last.hash}.`,
      );
    }
    await this.#priceStart();
    await this.#rereadFeeds(head);
    if (batch.last.number === head) {
      // State is read of its blocks alone.
      await this.#write({ head });
      await this.#claimUnread(head);
    }
    await prepareBatch(this.#pipeline, { batch, checkpoint: this.#checkpoint, chainHead: head });
    this.#unwritten.add(this.#pipeline.indexer, batch);
  }

  /** Writes what was added; returns how many events. */
  async #write({ head }: { head: number }): Promise<number> {
    const taken = this.#unwritten.take();
    if (taken === undefined) return 0;
    const { batch, events } = taken;
    const reachesHead = batch.last.number === head;
    const applied = await writeAdded(this.#pipeline, {
      batch,
      checkpoint: this.#checkpoint,
      chainHead: head,
      // Blocks on the way there are followed by others within moments.
      observe: reachesHead,
    });
    this.#unwritten.settle();
    this.#checkpoint = applied.checkpoint;
    await this.#reportFeeds();
    this.#finality.follow(batch.last, { isHead: reachesHead });
    this.#deps.gauges?.setIndexedBlock({ number: batch.last.number, time: batch.last.time, events });
    if (reachesHead) await this.#deps.onHead?.(applied);
    const { checkpoint } = applied;
    await this.#deps.afterBatch?.({ checkpoint, events, isFollowing: this.#isFollowing });
    return events;
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

  /**
   * After a reorg: the replacement is fetched first, then the store goes back to the fork and on to the replacement.
   * While no node can give the replacement, the store keeps what it has; what is final it keeps in any case. Throws
   * ReorgDetected where endpoints differ meanwhile, IndexContradicted where all contradict what is final.
   */
  handleReorg(): Promise<void> {
    return this.#writer.run(() => this.#heal());
  }

  /**
   * Writes what does not follow on the checkpoint, between two steps. The steps may depend on what is stored.
   * @param pools whose cached buckets and users the write changes
   * @param stepsOf is given the time of the last final block
   */
  writeBetween(
    stepsOf: (finalTime: number) => readonly WriteStep[] | Promise<readonly WriteStep[]>,
    pools: readonly string[] = [],
  ): Promise<void> {
    return this.#writer.run(async () => {
      const { store, guard } = this.#deps;
      const steps = await stepsOf(this.#finality.block.time);
      if (steps.length > 0) await store.write([...guard(), ...steps]);
      this.#pipeline.indexer.forget(pools);
    });
  }

  /** Moves the beginning of the index back to a block, with the steps that this takes; all books are loaded again. */
  extend(
    from: { readonly number: number; readonly time: number },
    stepsOf: () => Promise<readonly WriteStep[]>,
  ): Promise<void> {
    return this.#writer.run(async () => {
      const { store, guard } = this.#deps;
      const checkpoint = { ...this.#checkpoint, fromBlock: from.number, fromTime: from.time };
      await store.write([...guard(), ...(await stepsOf()), ...guardedPut(guard, checkpoints, checkpoint)]);
      this.#checkpoint = checkpoint;
      this.#pipeline = await openPipeline(this.#deps, checkpoint);
      this.#fetcher = createFetcher(this.#deps, this.#pipeline);
    });
  }

  async #heal(): Promise<void> {
    const { store, source, chain, log, guard } = this.#deps;
    const { fromBlock, blockNumber } = this.#checkpoint;
    const fork = withinIndex(await this.#forks.find(this.#checkpoint), this.#checkpoint);
    if (fork === undefined || fork?.number === blockNumber) return;
    const target = fork ?? (await blockBefore(source, fromBlock));
    const head = await source.head();
    const toBlock = Math.min(head.number, target.number + TAIL_BLOCKS);
    const replacement =
      toBlock > target.number
        ? await this.#fetcher.readTail({ fromBlock: target.number + 1, toBlock }, target.hash)
        : undefined;
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
    this.#forks.resetLowerHeads();
    if (replacement === undefined) return;
    try {
      await this.#apply(replacement, { head: head.number });
    } catch (error) {
      // The next step reads it again.
      if (!(error instanceof NewPoolsFound)) throw error;
      log("warn", error.message);
    }
  }

  /** Brings a pipeline back to the checkpoint that is behind its store or broken; loads it anew where `undone` is not known. */
  async #reopen(undone?: Undone): Promise<void> {
    if (!this.#isBehindStore && !this.#unwritten.isBroken) return;
    const checkpoint = this.#checkpoint;
    this.#pipeline =
      undone === undefined
        ? await openPipeline(this.#deps, checkpoint)
        : await healPipeline(this.#deps, this.#pipeline, { checkpoint, undone });
    this.#fetcher = createFetcher(this.#deps, this.#pipeline);
    this.#unwritten.clear();
    this.#isBehindStore = false;
  }
}
