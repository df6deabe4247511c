import { ReorgDetected } from "../../shared/chain-errors.ts";
import { Finality } from "../../shared/evm/finality/finality.ts";
import { KEPT_HEADERS, type StoredBlock } from "../../shared/evm/finality/fork.ts";
import type { BlockHeader, EvmSource } from "../../shared/evm/port.ts";
import type { ChainGauges } from "../../shared/ingest/metrics.ts";
import type { ProgressReport } from "../../shared/ingest-status/progress.ts";
import type { Guard } from "../../shared/storage/lease.ts";
import type { Store } from "../../shared/storage/port.ts";
import type { ChainDeployments } from "../deployments.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { applyBatch, type IngestPipeline, NewPoolsFound } from "./apply.ts";
import { readBackfill } from "./fetch/backfill.ts";
import type { BlockBatch } from "./fetch/block-batch.ts";
import type { Fetcher } from "./fetch/fetcher.ts";
import { prefetchNext } from "./fetch/prefetch.ts";
import { findFork, indexIdentityOf } from "./fork.ts";
import { createFetcher, openPipeline } from "./pipeline.ts";
import type { NewHead } from "./snapshots/snapshot-writer.ts";
import { rollbackTo } from "./undo/rollback.ts";

/** How long a head without a wake-up call goes unnoticed. */
const POLL_MS = 300;
/** Blocks a step behind the head. */
const TAIL_BLOCKS = 64;
/** A head below ours that differs from our chain is taken for a reorg only after this many looks. */
const SHORTER_CHAIN_LOOKS = 5;

export interface SyncDeps {
  readonly store: Store;
  readonly source: EvmSource;
  /** The same source for a long run of blocks, closed after it. Absent = `source` does for that too. */
  readonly openBulkSource?: () => EvmSource;
  readonly chain: ChainDeployments;
  readonly signal: AbortSignal;
  readonly log: (level: "info" | "warn", message: string, fields?: Record<string, unknown>) => void;
  readonly report: ProgressReport;
  readonly guard: Guard;
  readonly gauges?: ChainGauges | undefined;
  /** Called when the store has come to stand on the head, before it goes on. */
  readonly onHead?: (head: NewHead) => Promise<void>;
  /** Contracts that one eth_getLogs may name. */
  readonly maxAddresses?: number | undefined;
}

type Place = Pick<StoredBlock, "number" | "hash">;

/** What a run of blocks is read by. */
interface Reading {
  readonly source: EvmSource;
  readonly fetcher: Fetcher;
  readonly signal: AbortSignal;
}

interface CatchUpStep {
  readonly batch: BlockBatch;
  /** The chain's head when it was last looked at. */
  readonly head: number;
  /** Where the backfill ends; absent behind it. */
  readonly to?: number;
}

/** Keeps the store of one chain equal to the chain: backfill, head, reorgs. */
export class ChainSync {
  readonly #deps: SyncDeps;
  #checkpoint: CheckpointRow;
  #pipeline: IngestPipeline;
  #fetcher: Fetcher;
  readonly #finality: Finality;
  #shorterLooks = 0;
  #isFollowing = false;
  #moved: string | undefined;

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
    this.#checkpoint = checkpoint;
    this.#pipeline = pipeline;
    this.#fetcher = createFetcher(deps, pipeline);
  }

  /** Undoes whatever an interrupted write left beyond the checkpoint and loads the rest. */
  static async open(deps: SyncDeps, checkpoint: CheckpointRow): Promise<ChainSync> {
    const finality = await Finality.open(deps, indexIdentityOf(deps.store, checkpoint));
    const undone = await rollbackTo(deps.store, {
      checkpoint,
      target: targetOf(checkpoint),
      guard: deps.guard,
    });
    if (undone > 0)
      deps.log(
        "info",
        `Undid ${undone} events that an interrupted write left beyond block ${checkpoint.blockNumber}.`,
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

  /** See Finality.settled. */
  settled(): Promise<void> {
    return this.#finality.settled();
  }

  /** Until the signal. Throws IndexContradicted where every endpoint contradicts what is final. */
  async run(): Promise<void> {
    const { source, signal } = this.#deps;
    while (!signal.aborted) {
      const head = await source.head();
      this.#deps.gauges?.setHead(head);
      try {
        const moved = await this.step(head);
        if (!moved) await source.waitForHead(POLL_MS, signal);
      } catch (error) {
        this.#logMoved(error);
        await this.handleReorg().catch((failed) => this.#logMoved(failed));
        // A node that contradicts itself is given time to make up its mind.
        await source.waitForHead(POLL_MS, signal);
      }
    }
  }

  /** Throws what is not ReorgDetected. The same words come once, until blocks are written again. */
  #logMoved(error: unknown): void {
    if (!(error instanceof ReorgDetected)) throw error;
    if (error.message !== this.#moved) this.#deps.log("warn", error.message);
    this.#moved = error.message;
  }

  /** One step towards `head`; answers whether there was anything to do. Throws ReorgDetected where the chains part. */
  async step(head: BlockHeader): Promise<boolean> {
    try {
      return await this.#step(head);
    } catch (error) {
      if (!(error instanceof NewPoolsFound)) throw error;
      this.#deps.log("warn", error.message);
      return true;
    }
  }

  async #step(head: BlockHeader): Promise<boolean> {
    const behind = head.number - this.#checkpoint.blockNumber;
    if (behind < 0) {
      await this.#lookAtLowerHead(head);
      return false;
    }
    this.#shorterLooks = 0;
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
      const last = targetOf(this.#checkpoint);
      const { signal } = this.#deps;
      for await (const batch of this.#readTail(last, { to: head.number, fetcher: this.#fetcher, signal }))
        await this.#apply(batch, { head: head.number });
    }
    return true;
  }

  /** Before a long run is read on top of it: the blocks that follow would show it only after the first of them are read. */
  async #checkCheckpoint(): Promise<void> {
    const { blockNumber, blockHash } = this.#checkpoint;
    if (blockNumber < 0) return;
    const [header] = await this.#deps.source.headers([blockNumber]);
    if (header?.hash !== blockHash)
      throw new ReorgDetected(`Block ${blockNumber} of chain ${this.#deps.source.chainId} was replaced.`);
  }

  /**
   * A node whose head is on our chain is behind, and so is one that has not come to our final block; one that stays below
   * us on another chain has reorganised.
   */
  async #lookAtLowerHead(head: BlockHeader): Promise<void> {
    const fork = await this.#findFork();
    const isBehind = fork === undefined || (fork !== null && fork.number >= head.number);
    if (isBehind) this.#shorterLooks = 0;
    else if (++this.#shorterLooks >= SHORTER_CHAIN_LOOKS) {
      throw new ReorgDetected(`The chain ends at block ${head.number}, on another branch than ours.`);
    }
  }

  #findFork(): Promise<StoredBlock | null | undefined> {
    const { store, source } = this.#deps;
    return findFork(store, { source, checkpoint: this.#checkpoint, final: this.#finality.block });
  }

  /** From far behind up to the head, by the source for long runs. */
  async #catchUp(head: BlockHeader): Promise<void> {
    const from = this.#checkpoint.blockNumber + 1;
    const bulk = this.#deps.openBulkSource?.();
    bulk?.requireFinal(this.#finality.block);
    const deps = { ...this.#deps, source: bulk ?? this.#deps.source };
    const fetcher = createFetcher(deps, this.#pipeline);
    const stop = new AbortController();
    const signal = AbortSignal.any([deps.signal, stop.signal]);
    try {
      const steps = this.#stepsUpTo(head, { source: deps.source, fetcher, signal });
      for await (const { batch, head: top, to } of prefetchNext(steps)) {
        await this.#apply(batch, { head: top });
        if (to !== undefined) this.#report(batch, { from, to });
        if (deps.signal.aborted) return;
      }
    } finally {
      stop.abort();
      await bulk?.close();
    }
  }

  #report(batch: BlockBatch, options: { from: number; to: number }): void {
    const events = batch.blocks.reduce((sum, block) => sum + block.events.length, 0);
    this.#deps.report({ stage: "backfill", ...options, at: batch.last.number, events });
  }

  /** What lies far behind the head as a backfill, the last blocks with their headers. */
  async *#stepsUpTo(head: BlockHeader, by: Reading): AsyncGenerator<CatchUpStep> {
    let last: Place = targetOf(this.#checkpoint);
    let top = head.number;
    while (top - last.number > KEPT_HEADERS) {
      const to = top - KEPT_HEADERS;
      for await (const batch of readBackfill({ ...by, from: last.number + 1, to })) {
        last = batch.last;
        yield { batch, head: top, to };
      }
      if (by.signal.aborted) return;
      // The chain has grown meanwhile.
      top = (await this.#deps.source.head()).number;
    }
    for await (const batch of this.#readTail(last, { ...by, to: top })) yield { batch, head: top };
  }

  /** The blocks after `last` up to `to`, each run read while the one before it is written. */
  async *#readTail(
    last: Place,
    { to, fetcher, signal }: Pick<Reading, "fetcher" | "signal"> & { to: number },
  ): AsyncGenerator<BlockBatch> {
    const readAfter = ({ number, hash }: Place) => {
      if (number >= to || signal.aborted) return undefined;
      const range = { fromBlock: number + 1, toBlock: Math.min(to, number + TAIL_BLOCKS) };
      const batch = fetcher.readTail(range, hash);
      // Awaited later, or never: until then a failure must not count as unhandled.
      batch.catch(() => {});
      return batch;
    };
    let next = readAfter(last);
    while (next !== undefined) {
      const batch = await next;
      next = readAfter(batch.last);
      yield batch;
    }
  }

  /** Every block that is stored comes through here, whatever it was read from: it must follow on the checkpoint. */
  async #apply(batch: BlockBatch, { head }: { head: number }): Promise<void> {
    const { blockNumber, blockHash } = this.#checkpoint;
    if (batch.parent.number !== blockNumber || batch.parent.hash !== blockHash) {
      const { number, hash } = batch.parent;
      throw new ReorgDetected(
        `Block ${number + 1} follows on ${hash}, not on block ${blockNumber}, ${blockHash}.`,
      );
    }
    const reachesHead = batch.last.number === head;
    if (reachesHead) this.#claimUnread();
    const applied = await applyBatch(this.#pipeline, {
      batch,
      checkpoint: this.#checkpoint,
      chainHead: head,
      // Blocks on the way there are followed by others within moments.
      observe: reachesHead,
    });
    this.#checkpoint = applied.checkpoint;
    this.#moved = undefined;
    this.#finality.follow(batch.last, { isHead: reachesHead });
    const events = batch.blocks.reduce((sum, block) => sum + block.events.length, 0);
    this.#deps.gauges?.setIndexedBlock({ number: batch.last.number, time: batch.last.time, events });
    if (reachesHead) await this.#deps.onHead?.(applied);
  }

  /**
   * Pools whose balances the blocks before or a rollback left unread go with the blocks that reach the head, where every
   * node has the state, in one write with their checkpoint: between two checkpoints no answer changes.
   */
  #claimUnread(): void {
    const { indexer } = this.#pipeline;
    for (const entry of indexer.pools.entries()) {
      if (entry.anchor !== undefined && entry.balanceBlock < entry.lastBlock) indexer.touch(entry);
    }
  }

  /**
   * After a reorg: the replacement is fetched first, then the store goes back to the fork and on to the replacement.
   * While no node can give the replacement, the store keeps what it has; what is final it keeps in any case. Throws
   * ReorgDetected where endpoints differ meanwhile, IndexContradicted where all contradict what is final.
   */
  async handleReorg(): Promise<void> {
    const { store, source, chain, log, guard } = this.#deps;
    await source.recheck();
    await this.#finality.cancelUpdate();
    const fork = await this.#findFork();
    const { fromBlock, blockNumber } = this.#checkpoint;
    if (fork === undefined || fork?.number === blockNumber) return;
    const target = fork ?? { ...(await startTarget(source, fromBlock)) };
    const head = await source.head();
    const toBlock = Math.min(head.number, target.number + TAIL_BLOCKS);
    const replacement =
      toBlock > target.number
        ? await this.#fetcher.readTail({ fromBlock: target.number + 1, toBlock }, target.hash)
        : undefined;
    const undone = await rollbackTo(store, { checkpoint: this.#checkpoint, target, guard });
    log(
      "warn",
      `Chain ${chain.chainId} reorganised ${blockNumber - target.number} blocks down to ${target.number}; ${undone} events undone.`,
    );
    this.#checkpoint = {
      ...this.#checkpoint,
      blockNumber: target.number,
      blockHash: target.hash,
      blockTime: target.time,
    };
    this.#pipeline = await openPipeline(this.#deps, this.#checkpoint);
    this.#fetcher = createFetcher(this.#deps, this.#pipeline);
    this.#shorterLooks = 0;
    if (replacement === undefined) return;
    try {
      await this.#apply(replacement, { head: head.number });
    } catch (error) {
      // The next step reads it again.
      if (!(error instanceof NewPoolsFound)) throw error;
      log("warn", error.message);
    }
  }
}

const ZERO_HASH = `0x${"0".repeat(64)}`;

/** The block before the first indexed one; before block 0 there is none, its parent hash is zero. */
export async function startTarget(
  source: EvmSource,
  fromBlock: number,
): Promise<{ number: number; hash: string; time: number }> {
  if (fromBlock === 0) return { number: -1, hash: ZERO_HASH, time: 0 };
  const [header] = await source.headers([fromBlock - 1]);
  if (header === null || header === undefined) {
    throw new Error(`Chain ${source.chainId} has no block ${fromBlock - 1} to start after.`);
  }
  return { number: header.number, hash: header.hash, time: header.timestamp };
}

function targetOf(checkpoint: CheckpointRow) {
  return { number: checkpoint.blockNumber, hash: checkpoint.blockHash, time: checkpoint.blockTime };
}
