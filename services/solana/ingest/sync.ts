import { ReorgDetected } from "../../shared/chain-errors.ts";
import type { ProgressReport } from "../../shared/ingest-status/progress.ts";
import type { Guard } from "../../shared/storage/lease.ts";
import type { Store } from "../../shared/storage/port.ts";
import { type SolanaSource, SolanaUpstreamError } from "../chain/port.ts";
import { scanBlocks } from "../chain/scan.ts";
import { blocks as blockRows, type CheckpointRow, type FinalBlockRow } from "../store/collections.ts";
import { readFinalBlock, toAnchor } from "./final-block.ts";
import { checkLinks, findCommonSlot } from "./fork.ts";
import { type IndexedBatch, Indexer } from "./indexer.ts";
import type { BlockReader, DecodedBlock } from "./read/decoded-block.ts";
import type { TimedBlock } from "./timed-block.ts";
import { rollBack, writeBatch } from "./write.ts";

/** How long a head without a wake-up call goes unnoticed. */
const POLL_MS = 300;
/** Further behind the final head than this, final slots are read in batches; else confirmed ones, slot by slot. */
const FAR_SLOTS = 32;
/** Confirmed slots read at once. */
const FOLLOWED_SLOTS = 8;
/** How often the final head is asked for while following: it only says what needs no journal any more. */
const FINAL_HEAD_MS = 2_000;

/**
 * Ranges read at once, those waiting to be written among them: a block is some 10 MB as text and as much again decoded.
 * Full blocks are a thousand transactions and more: one or two a range.
 */
const CONCURRENCY = 4;
const MAX_BUFFERED = 4;
const TARGET_TRANSACTIONS = 2_000;

/** What a batch was, once it is written. */
export interface WrittenBatch {
  readonly blocks: readonly DecodedBlock[];
  readonly batch: IndexedBatch;
  readonly checkpoint: CheckpointRow;
}

/** Who has something to add to batches, or to do between them. All of it is optional to the index. */
export interface SyncHooks {
  /** Puts into the indexer what is to be written with blocks that come next, the first of them in `nextSlot`. */
  beforeBatch?(indexer: Indexer, at: { checkpoint: CheckpointRow; nextSlot: number }): Promise<void>;
  /** What it has to say in the next checkpoint. */
  checkpointFields?(): Partial<Pick<CheckpointRow, "rowsFromSlot" | "rowsFromTime">>;
  afterBatch?(batch: WrittenBatch & { isFollowing: boolean }): Promise<void>;
  /** Slots were taken back. */
  afterRollback?(): void;
}

export interface SyncDeps {
  readonly store: Store;
  readonly source: Pick<
    SolanaSource,
    "head" | "waitForHead" | "link" | "setAnchor" | "getAnchor" | "recheck"
  >;
  readonly reader: BlockReader;
  readonly hooks?: readonly SyncHooks[];
  readonly signal: AbortSignal;
  readonly log: (level: "info" | "warn", message: string, fields?: Record<string, unknown>) => void;
  readonly report: ProgressReport;
  readonly guard: Guard;
  /** The confirmed head as last seen. */
  readonly onHead?: (slot: number) => void;
  /** Milliseconds. */
  readonly now?: () => number;
}

/** Keeps the store equal to the chain: backfill of final slots, then confirmed ones, and back where those were dropped. */
export class SolanaSync {
  readonly #deps: SyncDeps;
  readonly #indexer: Indexer;
  #checkpoint: CheckpointRow;
  /** The last block that is known to be final: nothing up to it is ever taken back. */
  #final: FinalBlockRow;
  #finalHead: { slot: number; readMs: number } | undefined;
  #isFinalHeadNew = false;
  #isFollowing = false;

  private constructor(deps: SyncDeps, at: { checkpoint: CheckpointRow; final: FinalBlockRow }) {
    this.#deps = deps;
    this.#checkpoint = at.checkpoint;
    this.#final = at.final;
    this.#indexer = new Indexer(deps.store);
  }

  /** Takes back whatever an interrupted write left beyond the checkpoint, and what the cluster has dropped since. */
  static async open(deps: SyncDeps, stored: CheckpointRow): Promise<SolanaSync> {
    const { store, guard } = deps;
    const checkpoint = await rollBack(store, { checkpoint: stored, after: stored.slot, guard });
    const final = await readFinalBlock(store, checkpoint);
    const sync = new SolanaSync(deps, { checkpoint, final });
    sync.#setFinal(final);
    if (!(await sync.#isOnChain())) await sync.handleReorg();
    return sync;
  }

  get checkpoint(): CheckpointRow {
    return this.#checkpoint;
  }

  /** Whether the store stands near the head. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** Until the signal. */
  async run(): Promise<void> {
    const { source, signal, log } = this.#deps;
    while (!signal.aborted) {
      try {
        const moved = await this.step();
        if (!moved) await source.waitForHead(POLL_MS, signal);
      } catch (error) {
        if (!(error instanceof ReorgDetected)) throw error;
        log("warn", error.message);
        await this.handleReorg();
        // A node that contradicts itself is given time to make up its mind.
        await source.waitForHead(POLL_MS, signal);
      }
    }
  }

  /** One step towards the head; answers whether there was anything to do. Throws ReorgDetected where the chains part. */
  async step(): Promise<boolean> {
    const { source, onHead } = this.#deps;
    const head = await source.head("confirmed");
    onHead?.(head.slot);
    const finalSlot = await this.#readFinalHead();
    await this.#confirmFinal(finalSlot);
    if (finalSlot - this.#checkpoint.slot > FAR_SLOTS) {
      this.#isFollowing = false;
      await this.#catchUp({ finalSlot, headSlot: head.slot });
      return true;
    }
    this.#isFollowing = true;
    return this.#follow({ finalSlot, headSlot: head.slot });
  }

  /** Goes back to the last slot that the cluster still has. */
  async handleReorg(): Promise<void> {
    const { store, source, guard, log, hooks = [] } = this.#deps;
    const checkpoint = this.#checkpoint;
    const after = await findCommonSlot(store, { source, checkpoint, final: this.#final });
    // Nothing was dropped: an endpoint spoke of another chain, and is to be found out.
    if (after === checkpoint.slot) await source.recheck();
    this.#checkpoint = await rollBack(store, { checkpoint, after, guard });
    this.#indexer.clear();
    for (const each of hooks) each.afterRollback?.();
    const { slot } = this.#checkpoint;
    if (slot < checkpoint.slot)
      log("warn", `Slots after ${slot} were dropped by the cluster: taken back.`, {
        from: checkpoint.slot,
        to: slot,
      });
  }

  /**
   * Whether the cluster still has the checkpoint's block, before anything is read on. Where endpoints do not say (they
   * are behind, or do not keep the slot any more), the link of the next block will.
   */
  async #isOnChain(): Promise<boolean> {
    const { slot, blockhash, fromSlot } = this.#checkpoint;
    if (slot < fromSlot) return true;
    const link = await this.#deps.source.link(slot, "confirmed").catch((error: unknown) => {
      if (error instanceof SolanaUpstreamError) return undefined;
      throw error;
    });
    return link === undefined || link.blockhash === blockhash;
  }

  /**
   * Takes note of what has become final: the last indexed block up to the final head, once the cluster has that very
   * block there. An endpoint's final head alone may be another chain's.
   */
  async #confirmFinal(finalSlot: number): Promise<void> {
    const { store, source } = this.#deps;
    if (!this.#isFinalHeadNew) return;
    this.#isFinalHeadNew = false;
    const [last] = await store.find(blockRows, {
      filter: { slot: { gt: this.#final.slot, lte: Math.min(finalSlot, this.#checkpoint.slot) } },
      order: [{ field: "slot", direction: "desc" }],
      limit: 1,
    });
    const link = last && (await source.link(last.slot, "finalized"));
    if (last === undefined || link === undefined) return;
    if (link.blockhash !== last.blockhash)
      throw new ReorgDetected(
        `Slot ${last.slot} is final with block ${link.blockhash}, not ${last.blockhash}.`,
      );
    this.#setFinal(last);
  }

  #setFinal({ slot, blockhash }: { slot: number; blockhash: string }): void {
    const { source } = this.#deps;
    const genesisHash = this.#final.genesisHash ?? source.getAnchor().genesisHash ?? null;
    this.#final = { ...this.#final, slot, blockhash, genesisHash };
    source.setAnchor(toAnchor(this.#final));
  }

  async #readFinalHead(): Promise<number> {
    const { source, now = performance.now.bind(performance) } = this.#deps;
    const known = this.#finalHead;
    if (known !== undefined && this.#isFollowing && now() - known.readMs < FINAL_HEAD_MS) return known.slot;
    const { slot } = await source.head("finalized");
    this.#finalHead = { slot, readMs: now() };
    this.#isFinalHeadNew = true;
    return slot;
  }

  /** Final slots, many at once. */
  async #catchUp(heads: Heads): Promise<void> {
    const { reader, signal } = this.#deps;
    const from = this.#checkpoint.slot + 1;
    const scan = scanBlocks(reader, {
      fromSlot: from,
      toSlot: heads.finalSlot,
      commitment: "finalized",
      initialRange: 1,
      concurrency: CONCURRENCY,
      maxBuffered: MAX_BUFFERED,
      targetTransactions: TARGET_TRANSACTIONS,
      weigh: ({ transactionCount }: DecodedBlock) => transactionCount,
      signal,
    });
    for await (const { toSlot, blocks } of scan) {
      const rows = await this.#apply(blocks, { ...heads, isFinal: true });
      this.#deps.report({ stage: "backfill", from, at: toSlot, to: heads.finalSlot, events: rows });
    }
  }

  /** The last slots, each a batch that can be taken back alone while it is not final. */
  async #follow(heads: Heads): Promise<boolean> {
    const { reader, signal } = this.#deps;
    const from = this.#checkpoint.slot + 1;
    for (let fromSlot = from, toSlot: number; fromSlot <= heads.headSlot; fromSlot = toSlot + 1) {
      const isFinal = fromSlot <= heads.finalSlot;
      const last = isFinal ? Math.min(heads.finalSlot, heads.headSlot) : heads.headSlot;
      toSlot = Math.min(last, fromSlot + FOLLOWED_SLOTS - 1);
      const commitment = isFinal ? "finalized" : "confirmed";
      for (const block of await reader.blocks({ fromSlot, toSlot, commitment })) {
        if (signal.aborted) return true;
        await this.#apply([block], { ...heads, isFinal });
      }
    }
    return from <= heads.headSlot;
  }

  /** Adds blocks to the store as one batch; answers how many rows of tokens' lists they gave. */
  async #apply(
    blocks: readonly DecodedBlock[],
    { headSlot, isFinal }: Heads & { isFinal: boolean },
  ): Promise<number> {
    const [first] = blocks;
    const last = blocks[blocks.length - 1];
    if (first === undefined || last === undefined) return 0;
    const { store, guard, hooks = [] } = this.#deps;
    const previous = this.#checkpoint;
    checkLinks(blocks, previous);
    const decoded = decodedAfter(previous.time, blocks);
    for (const each of hooks)
      await each.beforeBatch?.(this.#indexer, { checkpoint: previous, nextSlot: first.slot });
    const batch = await this.#indexer.apply(decoded);
    const checkpoint: CheckpointRow = {
      ...previous,
      ...Object.assign({}, ...hooks.map((each) => each.checkpointFields?.())),
      slot: last.slot,
      blockhash: last.blockhash,
      time: decoded.at(-1)?.time ?? previous.time,
      headSlot: Math.max(headSlot, last.slot),
      finalizedSlot: Math.max(previous.finalizedSlot, isFinal ? last.slot : this.#final.slot),
    };
    const { slot, blockhash } = isFinal ? last : this.#final;
    const final: FinalBlockRow = { ...this.#final, slot, blockhash };
    const rows = decoded.map(({ transactions: _, ...block }) => block);
    await writeBatch(store, { batch, blocks: rows, previous, checkpoint, final, guard });
    this.#checkpoint = checkpoint;
    if (isFinal) this.#setFinal(final);
    for (const each of hooks)
      await each.afterBatch?.({ blocks, batch, checkpoint, isFollowing: this.#isFollowing });
    return batch.tokenRows.length;
  }
}

interface Heads {
  readonly finalSlot: number;
  readonly headSlot: number;
}

/** Blocks with a time each, which never falls: one without its own, or with an earlier one, has that of the block before. */
function decodedAfter(time: number, blocks: readonly DecodedBlock[]): TimedBlock[] {
  let last = time;
  return blocks.map(({ slot, blockhash, parentSlot, blockTime, transactions }) => {
    last = Math.max(last, blockTime ?? last);
    return { slot, blockhash, parentSlot, time: last, transactions };
  });
}
