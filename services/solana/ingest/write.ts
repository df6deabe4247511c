import { put, removeWhere, type Store, type WriteStep } from "../../shared/storage/port.ts";
import {
  type BlockRow,
  type BlockTimeRow,
  blocks,
  blockTimes,
  type CheckpointRow,
  candles,
  checkpoints,
  type FinalBlockRow,
  finalBlocks,
  holderAccounts,
  holders,
  journal,
  poolRows,
  prices,
  supplyRows,
  tokenFragments,
  tokenRows,
  tokens,
  traders,
} from "../store/collections.ts";
import type { IndexedBatch } from "./indexer.ts";
import { buildUndoSteps, toJournalRow } from "./journal.ts";
import { writeChanges } from "./state/document-cache.ts";

/** Blocks kept behind the checkpoint at least, for readers that stand on one of them. */
const KEPT_SLOTS = 512;

/** Steps that fail a write once another process holds the lease. */
export type Guard = () => readonly WriteStep[];

/**
 * Stores a batch: first how to take it back, then its rows and documents, the checkpoint last. Journals of batches
 * that are final go with the next write.
 */
export async function writeBatch(
  store: Store,
  of: {
    batch: IndexedBatch;
    blocks: readonly BlockRow[];
    /** Where the index stood before the batch. */
    previous: CheckpointRow;
    checkpoint: CheckpointRow;
    /** The last final block, the batch's own among them. */
    final: FinalBlockRow;
    guard: Guard;
  },
): Promise<void> {
  const { batch, checkpoint, previous, final, guard } = of;
  const fromSlot = previous.slot + 1;
  const { documents } = batch.changes;
  const { slot: toSlot, finalizedSlot } = checkpoint;
  const steps: WriteStep[] = [
    ...guard(),
    put(
      journal,
      needsNoJournal(store, checkpoint) ? [] : [toJournalRow(batch.changes, { fromSlot, toSlot })],
    ),
    put(tokenRows, batch.tokenRows),
    put(poolRows, batch.poolRows),
    put(supplyRows, batch.supplyRows),
    ...writeChanges(candles, documents.candles ?? []),
    ...writeChanges(holders, documents.holders ?? []),
    ...writeChanges(holderAccounts, documents.holderAccounts ?? []),
    ...writeChanges(prices, documents.prices ?? []),
    ...writeChanges(traders, documents.traders ?? []),
    ...writeChanges(tokens, documents.tokens ?? []),
    ...writeChanges(tokenFragments, documents.tokenFragments ?? []),
    put(blockTimes, listBlockTimes(of.blocks, previous)),
    put(blocks, of.blocks),
    ...guard(),
    put(checkpoints, [checkpoint]),
    // After the checkpoint: it never names what is not indexed. Before the journal goes: what it undoes is not final.
    put(finalBlocks, [final]),
    // A fork is found among blocks that are not final, however long the cluster has not come to finality.
    removeWhere(blocks, { slot: { lte: Math.min(toSlot - KEPT_SLOTS, final.slot - 1) } }),
    // After the checkpoint: until it stands, this batch's own journal is needed, final or not.
    removeWhere(journal, {
      fromSlot: { lte: finalizedSlot },
      toSlot: { lte: Math.min(finalizedSlot, toSlot) },
    }),
  ];
  await store.write(steps);
}

/** Whether a batch need never be taken back: it is of final slots, and written as a whole or not at all. */
function needsNoJournal(store: Store, { slot, finalizedSlot }: CheckpointRow): boolean {
  return slot <= finalizedSlot && store.engine === "sqlite";
}

/**
 * Takes back everything after a slot: what a killed write left, and blocks that the cluster has dropped. Batches are
 * taken back whole, so the answer may lie before `slot`: the last slot that still stands.
 */
export async function rollBack(
  store: Store,
  of: { checkpoint: CheckpointRow; after: number; guard: Guard },
): Promise<CheckpointRow> {
  const { checkpoint, after, guard } = of;
  const steps = await buildUndoSteps(store, after + 1);
  const batches = await store.find(journal, {
    filter: { toSlot: { gt: after } },
    order: [{ field: "fromSlot", direction: "asc" }],
    limit: 1,
    fields: ["fromSlot"],
  });
  const standing = Math.min(after, (batches[0]?.fromSlot ?? after + 1) - 1);
  const [last] = await store.find(blocks, {
    filter: { slot: { lte: standing } },
    order: [{ field: "slot", direction: "desc" }],
    limit: 1,
  });
  const before: CheckpointRow =
    last === undefined
      ? { ...checkpoint, slot: checkpoint.fromSlot - 1, blockhash: "", time: checkpoint.fromTime }
      : { ...checkpoint, slot: last.slot, blockhash: last.blockhash, time: last.time };
  // The checkpoint goes back first: a reader must never stand on a slot whose rows are going.
  await store.write([
    ...guard(),
    put(checkpoints, [before]),
    ...steps,
    removeWhere(blocks, { slot: { gt: before.slot } }),
    removeWhere(blockTimes, { time: last === undefined ? { gte: 0 } : { gt: before.time } }),
  ]);
  return before;
}

/** The first slot of each second; one that began in an earlier batch has its row. */
function listBlockTimes(held: readonly BlockRow[], previous: CheckpointRow): BlockTimeRow[] {
  const rows: BlockTimeRow[] = [];
  let last = previous.slot < previous.fromSlot ? Number.NEGATIVE_INFINITY : previous.time;
  for (const { slot, time } of held) {
    if (time > last) rows.push({ time, firstSlot: slot });
    last = Math.max(last, time);
  }
  return rows;
}
