import { type Guard, guardedPut } from "../../shared/storage/lease.ts";
import { put, removeWhere, type Store, type WriteStep } from "../../shared/storage/port.ts";
import { NO_SWAPS } from "../metrics/swap-share.ts";
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
  journal,
  poolRows,
  prices,
  priceVerdicts,
  supplyRows,
  tokenRows,
} from "../store/collections.ts";
import { holderAccounts, holders, tokenFragments, tokens, traders } from "../store/token-collections.ts";
import type { IndexedBatch } from "./indexer.ts";
import { buildUndoSteps, toJournalRow } from "./journal.ts";
import { writeChanges } from "./state/document-cache.ts";

/** Blocks kept behind the checkpoint at least, for readers that use one of them. */
const KEPT_SLOTS = 512;

/**
 * Stores a batch: first its undo journal, then its rows and documents, the checkpoint last. The next write removes
 * journals of final batches.
 */
export async function writeBatch(
  store: Store,
  write: {
    batch: IndexedBatch;
    blocks: readonly BlockRow[];
    /** Before the batch. */
    previous: CheckpointRow;
    checkpoint: CheckpointRow;
    /** The last final block, the batch's own among them. */
    final: FinalBlockRow;
    guard: Guard;
  },
): Promise<void> {
  const { batch, checkpoint, previous, final, guard } = write;
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
    ...writeChanges(priceVerdicts, documents.priceVerdicts ?? []),
    ...writeChanges(traders, documents.traders ?? []),
    ...writeChanges(tokens, documents.tokens ?? []),
    ...writeChanges(tokenFragments, documents.tokenFragments ?? []),
    put(blockTimes, listBlockTimes(write.blocks, previous)),
    put(blocks, write.blocks),
    ...guardedPut(guard, checkpoints, checkpoint),
    // After the checkpoint: it never names a slot that is not indexed. Before the journal's removal: that covers final slots only.
    put(finalBlocks, [final]),
    // Forks are found among blocks that are not final, however long finality takes.
    removeWhere(blocks, { slot: { lte: Math.min(toSlot - KEPT_SLOTS, final.slot - 1) } }),
    // After the checkpoint: until that is written, this batch's own journal is needed, final or not.
    removeWhere(journal, {
      fromSlot: { lte: finalizedSlot },
      toSlot: { lte: Math.min(finalizedSlot, toSlot) },
    }),
  ];
  await store.write(steps);
}

/** Whether a batch never needs an undo: its slots are final, and the write is atomic. */
function needsNoJournal(store: Store, { slot, finalizedSlot }: CheckpointRow): boolean {
  return slot <= finalizedSlot && store.engine === "sqlite";
}

/**
 * Rolls back everything after a slot: remains of a killed write, and blocks that the cluster dropped. Batches are undone
 * whole, so the returned checkpoint may be before that slot.
 */
export async function rollBack(
  store: Store,
  write: { checkpoint: CheckpointRow; after: number; guard: Guard },
): Promise<CheckpointRow> {
  const { checkpoint, after, guard } = write;
  const steps = await buildUndoSteps(store, after + 1);
  const batches = await store.find(journal, {
    filter: { toSlot: { gt: after } },
    order: [{ field: "fromSlot", direction: "asc" }],
    limit: 1,
    fields: ["fromSlot"],
  });
  const lastKept = Math.min(after, (batches[0]?.fromSlot ?? after + 1) - 1);
  const [last] = await store.find(blocks, {
    filter: { slot: { lte: lastKept } },
    order: [{ field: "slot", direction: "desc" }],
    limit: 1,
  });
  const before: CheckpointRow =
    last === undefined
      ? {
          ...checkpoint,
          slot: checkpoint.fromSlot - 1,
          blockhash: "",
          time: checkpoint.fromTime,
          ...NO_SWAPS,
        }
      : {
          ...{ ...checkpoint, slot: last.slot, blockhash: last.blockhash, time: last.time },
          ...{ trades: last.trades, otherSwaps: last.otherSwaps },
        };
  // The checkpoint goes back first: readers must never use a slot whose rows are being removed.
  await store.write([
    ...guardedPut(guard, checkpoints, before),
    ...steps,
    removeWhere(blocks, { slot: { gt: before.slot } }),
    removeWhere(blockTimes, { time: last === undefined ? { gte: 0 } : { gt: before.time } }),
  ]);
  return before;
}

/** The first slot of each second; one that began in an earlier batch has its row. */
function listBlockTimes(stored: readonly BlockRow[], previous: CheckpointRow): BlockTimeRow[] {
  const rows: BlockTimeRow[] = [];
  let last = previous.slot < previous.fromSlot ? Number.NEGATIVE_INFINITY : previous.time;
  for (const { slot, time } of stored) {
    if (time > last) rows.push({ time, firstSlot: slot });
    last = Math.max(last, time);
  }
  return rows;
}
