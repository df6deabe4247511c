import { setImmediate as nextTurn } from "node:timers/promises";
import { ReorgDetected } from "../../shared/chain-errors.ts";
import { Finality } from "../../shared/evm/finality/finality.ts";
import { KEPT_HEADERS } from "../../shared/evm/finality/fork.ts";
import type { BlockHeader, EvmSource } from "../../shared/evm/port.ts";
import { indexedBlock } from "../../shared/index/evm/checkpoint.ts";
import { ForkFinder, indexIdentityOf } from "../../shared/index/evm/fork.ts";
import { followHead, type SyncContext } from "../../shared/index/follow-head.ts";
import { Mutex } from "../../shared/process/mutex.ts";
import { guardedPut } from "../../shared/storage/lease.ts";
import type { WriteStep } from "../../shared/storage/port.ts";
import { type CheckpointRow, checkpoints } from "../store/collections.ts";
import { NewPoolsFound } from "./apply.ts";
import { BatchWriter, type BatchWriterDeps } from "./batch-writer.ts";
import type { BlockBatch } from "./fetch/block-batch.ts";
import { readTail, readUpTo, TAIL_BLOCKS } from "./fetch/catch-up.ts";
import { prefetchNext } from "./fetch/prefetch.ts";
import { findLastRow, withinIndex } from "./fork.ts";
import { createFetcher } from "./pipeline.ts";
import { blockBefore } from "./start-block.ts";
import { rollbackTo } from "./undo/rollback.ts";

export interface SyncDeps extends SyncContext, BatchWriterDeps {
  /** The same source for a long run of blocks, closed after it. Absent = `source` does for that too. */
  readonly openBulkSource?: () => EvmSource;
}

/** Keeps the store of one chain equal to the chain: backfill, head, reorgs. */
export class ChainSync {
  readonly #deps: SyncDeps;
  readonly #batches: BatchWriter;
  readonly #finality: Finality;
  readonly #forks: ForkFinder;
  #isFollowing = false;
  /** One writer at a time: steps, reorgs, and the merging of history. */
  readonly #writer = new Mutex();

  private constructor(deps: SyncDeps, { batches, finality }: { batches: BatchWriter; finality: Finality }) {
    this.#deps = deps;
    this.#batches = batches;
    this.#finality = finality;
    this.#forks = new ForkFinder({ ...deps, finality, findLastRow });
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
    return new ChainSync(deps, { batches: await BatchWriter.open(deps, { checkpoint, finality }), finality });
  }

  /** Whether the backfill is over. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  get checkpoint(): CheckpointRow {
    return this.#batches.checkpoint;
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
      checkpoint: () => this.checkpoint,
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
    const behind = head.number - this.checkpoint.blockNumber;
    if (behind < 0) {
      if (await this.#forks.isReorg(head, this.checkpoint))
        throw new ReorgDetected(`The chain ends at block ${head.number}, on another branch than the index.`);
      return false;
    }
    this.#forks.resetLowerHeads();
    if (behind === 0) {
      if (head.hash !== this.checkpoint.blockHash)
        throw new ReorgDetected(`Block ${head.number} of chain ${this.#deps.source.chainId} was replaced.`);
      this.#isFollowing = true;
      return false;
    }
    if (behind > KEPT_HEADERS) {
      await this.#checkCheckpoint();
      await this.#catchUp(head);
    } else {
      this.#isFollowing = true;
      const last = indexedBlock(this.checkpoint);
      const { signal } = this.#deps;
      for await (const batch of readTail(last, { to: head.number, fetcher: this.#batches.fetcher, signal }))
        await this.#apply(batch, head.number);
    }
    return true;
  }

  /** Before many blocks are fetched: the first of them would show a reorg, but only once they are here. */
  async #checkCheckpoint(): Promise<void> {
    const { blockNumber, blockHash } = this.checkpoint;
    if (blockNumber < 0) return;
    const [header] = await this.#deps.source.headers([blockNumber]);
    if (header?.hash !== blockHash)
      throw new ReorgDetected(`Block ${blockNumber} of chain ${this.#deps.source.chainId} was replaced.`);
  }

  /** From far behind up to the head, by the source for many blocks. */
  async #catchUp(head: BlockHeader): Promise<void> {
    const from = this.checkpoint.blockNumber + 1;
    const bulk = this.#deps.openBulkSource?.();
    bulk?.requireFinal(this.#finality.block);
    const deps = { ...this.#deps, source: bulk ?? this.#deps.source };
    const { report } = deps;
    const fetcher = createFetcher(deps, this.#batches.pipeline);
    const stop = new AbortController();
    const signal = AbortSignal.any([deps.signal, stop.signal]);
    let top = head.number;
    try {
      await this.#batches.run(
        () => this.#progress(top),
        async () => {
          const last = indexedBlock(this.checkpoint);
          const steps = readUpTo(
            { last, head },
            { source: deps.source, heads: this.#deps.source, fetcher, signal },
          );
          for await (const { batch, head: latest, to } of prefetchNext(steps)) {
            top = latest;
            await this.#batches.add(batch, this.#progress(top));
            const isEnd = batch.last.number === to || deps.signal.aborted;
            if (!isEnd && !this.#batches.isDue) continue;
            await this.#batches.writeBehind(this.#progress(top), (events) => {
              if (to !== undefined) report({ stage: "backfill", from, to, at: batch.last.number, events });
            });
            if (deps.signal.aborted) return;
          }
        },
      );
    } finally {
      stop.abort();
      await bulk?.close();
    }
  }

  #apply(batch: BlockBatch, head: number): Promise<void> {
    return this.#batches.apply(batch, this.#progress(head));
  }

  #progress(head: number) {
    return { head, isFollowing: this.#isFollowing };
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
   * Writes what does not follow on the checkpoint, between two steps. The steps may depend on what is stored. The event loop
   * turns before it: reads and writes of SQLite never wait, and a run of them would hold up heads, leases and health checks.
   * @param pools whose cached buckets and users the write changes
   * @param stepsOf is given the time of the last final block
   */
  async writeBetween(
    stepsOf: (finalTime: number) => readonly WriteStep[] | Promise<readonly WriteStep[]>,
    pools: readonly string[] = [],
  ): Promise<void> {
    await nextTurn();
    return this.#writer.run(async () => {
      const { store, guard } = this.#deps;
      const steps = await stepsOf(this.#finality.block.time);
      if (steps.length > 0) await store.write([...guard(), ...steps]);
      this.#batches.pipeline.indexer.forget(pools);
    });
  }

  /** Moves the beginning of the index back to a block, with the steps that this takes; all books are loaded again. */
  async extend(
    from: { readonly number: number; readonly time: number },
    stepsOf: () => Promise<readonly WriteStep[]>,
  ): Promise<void> {
    await nextTurn();
    return this.#writer.run(async () => {
      const { store, guard } = this.#deps;
      const checkpoint = { ...this.checkpoint, fromBlock: from.number, fromTime: from.time };
      await store.write([...guard(), ...(await stepsOf()), ...guardedPut(guard, checkpoints, checkpoint)]);
      await this.#batches.restart(checkpoint);
    });
  }

  async #heal(): Promise<void> {
    const { source, log } = this.#deps;
    const fork = withinIndex(await this.#forks.find(this.checkpoint), this.checkpoint);
    if (fork === undefined || fork?.number === this.checkpoint.blockNumber) return;
    const target = fork ?? (await blockBefore(source, this.checkpoint.fromBlock));
    const head = await source.head();
    const toBlock = Math.min(head.number, target.number + TAIL_BLOCKS);
    const replacement =
      toBlock > target.number
        ? await this.#batches.fetcher.readTail({ fromBlock: target.number + 1, toBlock }, target.hash)
        : undefined;
    await this.#batches.rollback(target);
    this.#forks.resetLowerHeads();
    if (replacement === undefined) return;
    try {
      await this.#apply(replacement, head.number);
    } catch (error) {
      // The next step reads it again.
      if (!(error instanceof NewPoolsFound)) throw error;
      log("warn", error.message);
    }
  }
}
