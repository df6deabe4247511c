import type { Collection } from "../../shared/storage/collection.ts";
import { put, removeWhere, type Store } from "../../shared/storage/port.ts";
import { Indexer } from "../ingest/indexer.ts";
import { SegmentBuilder } from "../ingest/segments/segment-builder.ts";
import type { TimedBlock } from "../ingest/timed-block.ts";
import { rollBack, writeBatch } from "../ingest/write.ts";
import { NO_SWAPS } from "../metrics/swap-share.ts";
import {
  type CheckpointRow,
  checkpoints,
  poolRows,
  segments,
  supplyRows,
  tokenRows,
} from "../store/collections.ts";
import { buildSegments } from "./build-segments.ts";
import { FIRST_SLOT, FIRST_TIME } from "./random-chain.ts";

const guard = () => [];

/** A store that is filled as the ingest fills it, and what should be in it. */
export class TestIndex {
  /** What its writes go through. */
  store: Store;
  readonly indexer: Indexer;
  /** Every block that counts, oldest first. */
  blocks: readonly TimedBlock[] = [];
  checkpoint: CheckpointRow;
  #keeper: SegmentBuilder | undefined;

  private constructor(store: Store, options: { slot: number; time: number }) {
    this.store = store;
    this.indexer = new Indexer(store);
    this.checkpoint = {
      chainId: 0,
      slot: options.slot - 1,
      blockhash: "",
      time: options.time,
      fromSlot: options.slot,
      fromTime: options.time,
      rowsFromSlot: options.slot,
      rowsFromTime: options.time,
      headSlot: options.slot,
      finalizedSlot: options.slot - 1,
      fromBlockhash: "",
      ...NO_SWAPS,
    };
  }

  /** An index that begins with a slot, FIRST_SLOT where none is given. */
  static async open(store: Store, from: { slot: number; time: number } | undefined = undefined) {
    const index = new TestIndex(store, from ?? { slot: FIRST_SLOT, time: FIRST_TIME });
    await store.write([put(checkpoints, [index.checkpoint])]);
    return index;
  }

  /** Stores blocks as one batch. */
  async apply(added: readonly TimedBlock[], options: { finalLag?: number } = {}): Promise<void> {
    const last = added.at(-1);
    if (last === undefined) return;
    const previous = this.checkpoint;
    const batch = await this.indexer.apply(added);
    const { slot, blockhash, time } = last;
    const finalizedSlot = Math.max(previous.finalizedSlot, slot - (options.finalLag ?? 0));
    const checkpoint = { ...previous, slot, blockhash, time, headSlot: slot, finalizedSlot };
    const rows = added.map(({ transactions: _, ...block }) => ({ ...block, ...NO_SWAPS }));
    this.blocks = [...this.blocks, ...added];
    this.checkpoint = checkpoint;
    const { chainId } = checkpoint;
    const final = { chainId, slot: finalizedSlot, blockhash: "", genesisHash: null };
    await writeBatch(this.store, { batch, blocks: rows, previous, checkpoint, final, guard });
    await this.#keeper?.afterBatch({ blocks: [], batch, checkpoint });
  }

  /** From now on segments are closed as the ingest does it: a few after each batch, of lists that have grown much. */
  keepSegments(segmentRows: number): void {
    this.#keeper = new SegmentBuilder({ store: this.store, guard, segmentRows });
  }

  /** Rolls back what came after a slot, which must not be final. */
  async fork(after: number): Promise<void> {
    const checkpoint = await rollBack(this.store, { checkpoint: this.checkpoint, after, guard });
    this.checkpoint = checkpoint;
    this.blocks = this.blocks.filter(({ slot }) => slot <= checkpoint.slot);
    this.indexer.clear();
    this.#keeper?.afterRollback();
  }

  /** Counts all that is final, in segments of any size. */
  countSegments(rows: number): Promise<void> {
    const { slot, finalizedSlot } = this.checkpoint;
    return buildSegments(this.store, { rows, upTo: Math.min(slot, finalizedSlot) });
  }

  /** Drops rows for their age: the checkpoint says so before they go. */
  async dropRowsBefore(block: TimedBlock): Promise<void> {
    this.checkpoint = { ...this.checkpoint, rowsFromSlot: block.slot, rowsFromTime: block.time };
    const old = { slot: { lt: block.slot } };
    await this.store.write([
      put(checkpoints, [this.checkpoint]),
      ...[tokenRows, poolRows, supplyRows].map((rows) => removeWhere(rows as Collection, old)),
      removeWhere(segments, { lastSlot: { lt: block.slot } }),
    ]);
  }
}
