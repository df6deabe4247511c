import { KEPT_HEADERS } from "../../shared/evm/finality/fork.ts";
import { type HeaderRow, headers } from "../../shared/index/evm/headers.ts";
import type { Guard } from "../../shared/storage/lease.ts";
import { put, remove, removeWhere, type Store, type WriteStep } from "../../shared/storage/port.ts";
import {
  type CheckpointRow,
  checkpoints,
  type DiscoveryRow,
  discoveries,
  type TokenRow,
  tokens,
  type UnitHistoryRow,
  type UnitRow,
  unitHistory,
  units,
} from "../store/collections.ts";

/** What a pass leaves. */
export interface PassRows {
  readonly checkpoint: CheckpointRow;
  readonly units: readonly UnitRow[];
  readonly history: readonly UnitHistoryRow[];
  readonly tokens: readonly TokenRow[];
  /** The last ones up to the checkpoint. */
  readonly headers: readonly HeaderRow[];
  readonly discoveries: readonly DiscoveryRow[];
  /** Units that are taken back. */
  readonly gone: readonly UnitRow[];
  /** See PassPlan. */
  readonly replacedAbove: number | undefined;
}

/**
 * Stores a pass: one transaction on SQLite. On MongoDB the order does the same work. Whatever is killed before the
 * checkpoint is done again from the old one: its units are known by their version, and headers of a branch that was
 * left go first, those of the new one come after the checkpoint, so that a fork is never searched among blocks that
 * the checkpoint does not stand on. Where these are missing it is found deeper than it was, which is harmless.
 */
export async function writePass(store: Store, of: PassRows & { guard: Guard }): Promise<void> {
  const { checkpoint, guard } = of;
  const { chainId, blockNumber } = checkpoint;
  await store.write([
    ...guard(),
    put(tokens, of.tokens),
    ...replacedSteps(chainId, of.replacedAbove),
    remove(units, keysOf(of.gone)),
    put(units, of.units),
    put(unitHistory, of.history),
    // Again for MongoDB, where the steps before this one took their time.
    ...guard(),
    put(checkpoints, [checkpoint]),
    put(headers, of.headers),
    put(discoveries, of.discoveries),
    removeWhere(headers, { chainId, number: { gt: 0, lte: blockNumber - KEPT_HEADERS } }),
  ]);
}

/**
 * Takes units back, and the scans to where they begin again. The checkpoint stays what it was but for its epoch, until
 * a pass is written. Returns it.
 */
export async function writeGone(
  store: Store,
  of: {
    checkpoint: CheckpointRow;
    gone: readonly UnitRow[];
    discoveries: readonly DiscoveryRow[];
    guard: Guard;
  },
): Promise<CheckpointRow> {
  const { checkpoint, guard } = of;
  const next: CheckpointRow = { ...checkpoint, epoch: checkpoint.epoch + 1 };
  // Scans first: what they are to find again may go then.
  await store.write([
    ...guard(),
    put(discoveries, of.discoveries),
    remove(units, keysOf(of.gone)),
    ...guard(),
    put(checkpoints, [next]),
  ]);
  return next;
}

/** What discovery has found, and how far it has read. */
export async function writeFound(
  store: Store,
  of: { units: readonly UnitRow[]; progress: DiscoveryRow; guard: Guard },
): Promise<void> {
  await store.write([...of.guard(), put(units, of.units), put(discoveries, [of.progress])]);
}

function replacedSteps(chainId: number, above: number | undefined): WriteStep[] {
  if (above === undefined) return [];
  return [
    removeWhere(headers, { chainId, number: { gt: above } }),
    removeWhere(unitHistory, { chainId, block: { gt: above } }),
  ];
}

function keysOf(rows: readonly UnitRow[]): Pick<UnitRow, "chainId" | "kind" | "id">[] {
  return rows.map(({ chainId, kind, id }) => ({ chainId, kind, id }));
}
