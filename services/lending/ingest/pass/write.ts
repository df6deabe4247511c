import { KEPT_HEADERS } from "../../../shared/evm/finality/fork.ts";
import { type HeaderRow, headers } from "../../../shared/index/evm/headers.ts";
import { type Guard, guardedPut } from "../../../shared/storage/lease.ts";
import { put, remove, removeWhere, type Store, type WriteStep } from "../../../shared/storage/port.ts";
import {
  type CheckpointRow,
  checkpoints,
  type DiscoveryRow,
  discoveries,
  type EntityHistoryRow,
  type EntityRow,
  entities,
  entityHistory,
  type TokenRow,
  tokens,
} from "../../store/collections.ts";

/** The rows that a pass writes and removes. */
export interface PassRows {
  readonly checkpoint: CheckpointRow;
  readonly entities: readonly EntityRow[];
  readonly history: readonly EntityHistoryRow[];
  readonly tokens: readonly TokenRow[];
  /** The last headers up to the checkpoint. */
  readonly headers: readonly HeaderRow[];
  readonly discoveries: readonly DiscoveryRow[];
  /** Rolled back entities. */
  readonly removed: readonly EntityRow[];
  /** See PassPlan. */
  readonly replacedAbove: number | undefined;
}

/**
 * Stores a pass: one transaction on SQLite. On MongoDB the order of the steps replaces it. A write that is killed before
 * its checkpoint is repeated from the old checkpoint: its entities have a higher version. Headers of a replaced branch are
 * removed first, those of the new one are put after the checkpoint, so that a fork is only searched among blocks that the
 * checkpoint covers. Missing headers let the search go deeper than needed, which is harmless.
 */
export async function writePass(store: Store, rows: PassRows & { guard: Guard }): Promise<void> {
  const { checkpoint, guard } = rows;
  const { chainId, blockNumber } = checkpoint;
  await store.write([
    ...guard(),
    put(tokens, rows.tokens),
    ...replacedSteps(chainId, rows.replacedAbove),
    remove(entities, keysOf(rows.removed)),
    put(entities, rows.entities),
    put(entityHistory, rows.history),
    // Again for MongoDB, where the steps above take time.
    ...guardedPut(guard, checkpoints, checkpoint),
    put(headers, rows.headers),
    put(discoveries, rows.discoveries),
    removeWhere(headers, { chainId, number: { gt: 0, lte: blockNumber - KEPT_HEADERS } }),
  ]);
}

/**
 * Removes rolled back entities and sets the scans back. Of the checkpoint only the epoch changes, until the next pass is
 * written. Returns the new checkpoint.
 */
export async function writeRollback(
  store: Store,
  rows: {
    checkpoint: CheckpointRow;
    removed: readonly EntityRow[];
    discoveries: readonly DiscoveryRow[];
    guard: Guard;
  },
): Promise<CheckpointRow> {
  const { checkpoint, guard } = rows;
  const next: CheckpointRow = { ...checkpoint, epoch: checkpoint.epoch + 1 };
  // Scans first: they discover again what is removed after them.
  await store.write([
    ...guard(),
    put(discoveries, rows.discoveries),
    remove(entities, keysOf(rows.removed)),
    ...guardedPut(guard, checkpoints, next),
  ]);
  return next;
}

/** Stores discovered entities and the progress of their scans. */
export async function writeDiscovered(
  store: Store,
  {
    entities: rows,
    scanned,
    guard,
  }: { entities: readonly EntityRow[]; scanned: readonly DiscoveryRow[]; guard: Guard },
): Promise<void> {
  await store.write([...guard(), put(entities, rows), put(discoveries, scanned)]);
}

function replacedSteps(chainId: number, above: number | undefined): WriteStep[] {
  if (above === undefined) return [];
  return [
    removeWhere(headers, { chainId, number: { gt: above } }),
    removeWhere(entityHistory, { chainId, block: { gt: above } }),
  ];
}

function keysOf(rows: readonly EntityRow[]): Pick<EntityRow, "chainId" | "kind" | "id">[] {
  return rows.map(({ chainId, kind, id }) => ({ chainId, kind, id }));
}
