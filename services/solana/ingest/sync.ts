import { ReorgDetected } from "../../shared/chain-errors.ts";
import { followHead, type SyncContext } from "../../shared/index/follow-head.ts";
import { type SolanaSource, SolanaUpstreamError } from "../chain/port.ts";
import { scanBlocks } from "../chain/scan.ts";
import { addSwaps, type SwapSums } from "../metrics/swap-share.ts";
import { blocks as blockRows, type CheckpointRow, type FinalBlockRow } from "../store/collections.ts";
import type { KeptRows } from "../store/kept-rows.ts";
import { readFinalBlock, toAnchor } from "./final-block.ts";
import { checkLinks, findCommonSlot } from "./fork.ts";
import { type IndexedBatch, Indexer } from "./indexer.ts";
import type { BlockReader, DecodedBlock } from "./read/decoded-block.ts";
import { StreamContradicted } from "./read/streamed-reader.ts";
import type { TimedBlock } from "./timed-block.ts";
import { rollBack, writeBatch } from "./write.ts";

/** Further behind the final head than this, final slots are read in batches, else confirmed ones, slot by slot. */
const FAR_SLOTS = 32;
/** Confirmed slots read at once. */
const FOLLOWED_SLOTS = 8;
/** How often the final head is requested while following: it only says what needs no journal any more. */
const FINAL_HEAD_MS = 2_000;

/**
 * Ranges read at once, those waiting to be written among them: a block is some 10 MB as text and as much again decoded.
 * Full blocks are a thousand transactions and more: one or two a range.
 */
const CONCURRENCY = 4;
const MAX_BUFFERED = 4;
const TARGET_TRANSACTIONS = 2_000;

/** A batch that is stored. */
export interface WrittenBatch {
  readonly blocks: readonly DecodedBlock[];
  readonly batch: IndexedBatch;
  readonly checkpoint: CheckpointRow;
}

/** What adds rows to batches, or works between them. */
export interface SyncHooks {
  /** Adds rows to the indexer, which are written with the next blocks; the first of these is in `nextSlot`. */
  beforeBatch?(indexer: Indexer, at: { checkpoint: CheckpointRow; nextSlot: number }): Promise<void>;
  /** Fields of the next checkpoint. */
  checkpointFields?(): Partial<Pick<CheckpointRow, "rowsFromSlot" | "rowsFromTime">>;
  afterBatch?(batch: WrittenBatch & { isFollowing: boolean }): Promise<void>;
  /** Slots after the checkpoint were rolled back. */
  afterRollback?(checkpoint: CheckpointRow): void;
}

export interface SyncDeps extends SyncContext {
  readonly source: Pick<
    SolanaSource,
    "head" | "waitForHead" | "link" | "setAnchor" | "getAnchor" | "recheck"
  >;
  readonly reader: BlockReader;
  readonly hooks?: readonly SyncHooks[];
  /** Default: all rows. */
  readonly kept?: KeptRows;
  /** The confirmed head as last seen. */
  readonly onHead?: (slot: number) => void;
  /** Milliseconds. */
  readonly now?: () => number;
}

/** Keeps the index equal to the chain: a backfill of final slots, then confirmed ones, which are rolled back when dropped. */
export class SolanaSync {
  readonly #deps: SyncDeps;
  readonly #indexer: Indexer;
  #checkpoint: CheckpointRow;
  /** The last block that is known to be final: it is never rolled back, nor is any before it. */
  #final: FinalBlockRow;
  #finalHead: { slot: number; readMs: number } | undefined;
  #isFinalHeadNew = false;
  #isFollowing = false;
  /** Blocks of a stream were rolled back: what handleReorg finds unchanged is no sign of another chain. */
  #isTakenBack = false;

  private constructor(deps: SyncDeps, at: { checkpoint: CheckpointRow; final: FinalBlockRow }) {
    this.#deps = deps;
    this.#checkpoint = at.checkpoint;
    this.#final = at.final;
    this.#indexer = new Indexer(deps.store, undefined, deps.kept);
  }

  /** Rolls back what an interrupted write left after the checkpoint, and slots that the cluster has dropped since. */
  static async open(deps: SyncDeps, stored: CheckpointRow): Promise<SolanaSync> {
    const { store, guard } = deps;
    const checkpoint = await rollBack(store, { checkpoint: stored, after: stored.slot, guard });
    const final = await readFinalBlock(store, checkpoint);
    const sync = new SolanaSync(deps, { checkpoint, final });
    sync.#setFinal(final);
    if (!(await sync.#isOnChain())) await sync.handleReorg();
    else deps.reader.follow?.(checkpoint.slot + 1);
    return sync;
  }

  get checkpoint(): CheckpointRow {
    return this.#checkpoint;
  }

  /** Whether the backfill is over. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** Until the signal. */
  async run(): Promise<void> {
    const { source, signal, log, reader } = this.#deps;
    try {
      await followHead({
        source,
        signal,
        log,
        checkpoint: () => this.#checkpoint,
        step: () => this.step(),
        handleReorg: () => this.handleReorg(),
      });
    } finally {
      reader.follow?.(undefined);
    }
  }

  /** One step towards the head; returns whether there was anything to do. Throws ReorgDetected. */
  async step(): Promise<boolean> {
    const { source, onHead } = this.#deps;
    const head = await source.head("confirmed");
    onHead?.(head.slot);
    const finalSlot = await this.#readFinalHead();
    await this.#confirmFinal(finalSlot);
    try {
      if (finalSlot - this.#checkpoint.slot > FAR_SLOTS) {
        this.#isFollowing = false;
        await this.#catchUp({ finalSlot, headSlot: head.slot });
        return true;
      }
      this.#isFollowing = true;
      return await this.#follow({ finalSlot, headSlot: head.slot });
    } catch (error) {
      if (error instanceof StreamContradicted) {
        await this.#takeBack(error.fromSlot);
        this.#isTakenBack = true;
      }
      throw error;
    }
  }

  /** Rolls back blocks that may lack rows, to be read again; those that are final can only be named. */
  async #takeBack(fromSlot: number): Promise<void> {
    const { store, guard, log, hooks = [] } = this.#deps;
    const checkpoint = this.#checkpoint;
    const after = Math.max(fromSlot - 1, this.#final.slot);
    if (after >= fromSlot)
      log("warn", "Final slots may lack rows: the gRPC server withheld some. Read them again by a reindex.", {
        from: fromSlot,
        to: Math.min(after, checkpoint.slot),
      });
    if (after >= checkpoint.slot) return;
    this.#checkpoint = await rollBack(store, { checkpoint, after, guard });
    this.#indexer.clear();
    for (const each of hooks) each.afterRollback?.(this.#checkpoint);
  }

  /** Goes back to the last slot that the cluster still has. */
  async handleReorg(): Promise<void> {
    const { store, source, reader, guard, log, hooks = [] } = this.#deps;
    const checkpoint = this.#checkpoint;
    const after = await findCommonSlot(store, { source, checkpoint, final: this.#final });
    const isTakenBack = this.#isTakenBack;
    this.#isTakenBack = false;
    // Nothing was dropped: some endpoint serves another chain. The check sets it aside.
    if (after === checkpoint.slot && !isTakenBack) {
      await source.recheck();
      reader.distrust?.();
    }
    this.#checkpoint = await rollBack(store, { checkpoint, after, guard });
    this.#indexer.clear();
    for (const each of hooks) each.afterRollback?.(this.#checkpoint);
    const { slot } = this.#checkpoint;
    if (slot < checkpoint.slot) reader.follow?.(slot + 1);
    if (slot < checkpoint.slot)
      log("warn", `Slots after ${slot} were dropped by the cluster: rolled back.`, {
        from: checkpoint.slot,
        to: slot,
      });
  }

  /**
   * Whether the cluster still has the checkpoint's block, before the next ones are read. Where endpoints cannot say (they
   * are behind, or have pruned the slot), the link of the next block does.
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
   * Moves the final block up to the last indexed one below the final head, once the cluster has the same block there:
   * the final head alone may be that of another chain.
   */
  async #confirmFinal(finalSlot: number): Promise<void> {
    const { store } = this.#deps;
    if (!this.#isFinalHeadNew) return;
    this.#isFinalHeadNew = false;
    const [last] = await store.find(blockRows, {
      filter: { slot: { gt: this.#final.slot, lte: Math.min(finalSlot, this.#checkpoint.slot) } },
      order: [{ field: "slot", direction: "desc" }],
      limit: 1,
    });
    if (last !== undefined && (await this.#isFinal(last))) this.#setFinal(last);
  }

  /** Whether the cluster names the block as final; throws ReorgDetected where it names another one in its slot. */
  async #isFinal({ slot, blockhash }: Pick<DecodedBlock, "slot" | "blockhash">): Promise<boolean> {
    const link = await this.#deps.source.link(slot, "finalized");
    if (link !== undefined && link.blockhash !== blockhash)
      throw new ReorgDetected(`Slot ${slot} is final with block ${link.blockhash}, not ${blockhash}.`);
    return link !== undefined;
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

  /**
   * Final slots, many at once. A response does not name its slot: that a block came for a wrong one is seen at the next
   * block, which the last of a batch waits for. Nothing final is undone.
   */
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
    let last: DecodedBlock | undefined;
    for await (const { toSlot, blocks } of scan) {
      const proven = last === undefined ? [...blocks] : [last, ...blocks];
      last = proven.pop();
      const rows = await this.#apply(proven, { ...heads, isFinal: true });
      this.#deps.report({ stage: "backfill", from, at: toSlot, to: heads.finalSlot, events: rows });
    }
    if (last !== undefined) await this.#apply([last], { ...heads, isFinal: await this.#isFinal(last) });
  }

  /** The last slots, each a batch of its own, which can be rolled back alone until it is final. */
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
        await this.#apply([block], { ...heads, isFinal: isFinal && (await this.#isFinal(block)) });
      }
    }
    return from <= heads.headSlot;
  }

  /** Writes blocks as one batch; returns how many rows of token lists they have. */
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
    let sums: SwapSums = previous;
    const rows = decoded.map(({ transactions: _, ...block }, i) => {
      sums = addSwaps(sums, countSwaps(blocks[i] as DecodedBlock));
      return { ...block, ...sums };
    });
    const { trades, otherSwaps } = sums;
    const checkpoint: CheckpointRow = {
      ...previous,
      ...{ trades, otherSwaps },
      ...Object.assign({}, ...hooks.map((each) => each.checkpointFields?.())),
      slot: last.slot,
      blockhash: last.blockhash,
      time: decoded.at(-1)?.time ?? previous.time,
      headSlot: Math.max(headSlot, last.slot),
      finalizedSlot: Math.max(previous.finalizedSlot, isFinal ? last.slot : this.#final.slot),
    };
    const { slot, blockhash } = isFinal ? last : this.#final;
    const final: FinalBlockRow = { ...this.#final, slot, blockhash };
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

function countSwaps({ transactions, otherSwaps }: DecodedBlock): SwapSums {
  let trades = 0;
  for (const { events } of transactions) for (const { kind } of events) if (kind === "trade") trades += 1;
  return { trades, otherSwaps: otherSwaps ?? null };
}

/** Gives each block a time that never decreases: one without a time, or with an earlier one, gets that of the block before. */
function decodedAfter(time: number, blocks: readonly DecodedBlock[]): TimedBlock[] {
  let last = time;
  return blocks.map(({ slot, blockhash, parentSlot, blockTime, transactions }) => {
    last = Math.max(last, blockTime ?? last);
    return { slot, blockhash, parentSlot, time: last, transactions };
  });
}
