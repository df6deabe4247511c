import { requireConsistent, snapshotsOf } from "../../shared/index/consistent-read.ts";
import type { Store } from "../../shared/storage/port.ts";
import { type CheckpointRow, checkpoints } from "../store/collections.ts";
import { CHAIN_ID, getBlock, getCheckpoint } from "../store/queries.ts";

/** Attempts to read all of a response as of one checkpoint, where the store has no snapshots. */
const MAX_ATTEMPTS = 4;

/**
 * What a response is made of. Rows of slots up to the checkpoint stay as they are while the ingest goes on, and only a
 * fork removes them: afterwards the checkpoint's block is compared, and whether retention dropped rows. Documents
 * (candles, holders, prices, tokens) change with every write: they are read from a snapshot, or the checkpoint must be
 * the same before and after. On a MongoDB without snapshots (a single server) documents may be one write ahead of it for
 * the milliseconds of that write.
 */
export type DataKind = "rows" | "documents";

/** Whether any block is indexed: the first checkpoint is just before the first block. */
export function hasData(checkpoint: CheckpointRow | undefined): checkpoint is CheckpointRow {
  return checkpoint !== undefined && checkpoint.slot >= checkpoint.fromSlot;
}

/**
 * Runs `read` so that all it reads is of one checkpoint: where it may not be, it reads again, at the checkpoint of that
 * time. Undefined where nothing is indexed yet. Throws unavailable where the index changes faster than it can be read.
 */
export function readAtHead<T>(
  store: Store,
  {
    dataKind,
    signal,
    read,
  }: {
    dataKind: DataKind;
    /** Of the request that alone wants it; undefined where others share it. */
    signal: AbortSignal | undefined;
    /** Reads from `view`: a snapshot, or the store itself. */
    read: (checkpoint: CheckpointRow, view: Store) => Promise<T>;
  },
): Promise<{ value: T; checkpoint: CheckpointRow } | undefined> {
  const wanted = signal === undefined ? store : store.within(signal);
  return requireConsistent({
    getCheckpoint: (view = wanted) => getCheckpoint(view),
    hasData,
    read: (checkpoint, view = wanted) => read(checkpoint, view),
    async isSameState(before, after) {
      if (after !== undefined && isSameHead(after, before)) return true;
      return dataKind === "rows" && (await areRowsUnchanged(wanted, { checkpoint: before, after }));
    },
    maxAttempts: MAX_ATTEMPTS,
    signal,
    snapshots: snapshotsOf(wanted, checkpoints, { chainId: CHAIN_ID }),
  });
}

function isSameHead(one: CheckpointRow, other: CheckpointRow): boolean {
  return one.blockhash === other.blockhash && one.rowsFromSlot === other.rowsFromSlot;
}

/** Whether every row up to the first checkpoint was there until the second: no fork since, and none were dropped for age. */
async function areRowsUnchanged(
  store: Store,
  { checkpoint, after }: { checkpoint: CheckpointRow; after: CheckpointRow | undefined },
): Promise<boolean> {
  if (after === undefined || after.slot <= checkpoint.slot) return false;
  if (after.rowsFromSlot !== checkpoint.rowsFromSlot) return false;
  const block = await getBlock(store, checkpoint.slot);
  return block?.blockhash === checkpoint.blockhash;
}
