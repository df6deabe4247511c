import { setImmediate as nextTurn } from "node:timers/promises";
import { type Collection, collection } from "../storage/collection.ts";
import type { Guard } from "../storage/lease.ts";
import { put, remove, removeWhere, type Store } from "../storage/port.ts";

/**
 * Markers of chain indexes that are being deleted. A row exists from before the checkpoint is deleted until everything is:
 * an ingest that finds one finishes the deletion before it indexes, since the operator has decided already.
 */
export const reindexes = collection({
  name: "reindexes",
  fields: {
    /** The lease of the chain's ingest. */
    name: "text",
    /** Unix milliseconds. */
    startedAtMs: "int",
  },
  key: ["name"],
  indexes: [],
  shardKey: ["name"],
});

/** One chain's rows of a collection; an empty filter takes all of them. */
export interface IndexPart {
  readonly collection: Collection;
  readonly filter: { readonly chainId?: number };
}

/** One chain's index in one store. */
export interface ChainIndex {
  /** The lease of its ingest. */
  readonly name: string;
  readonly parts: readonly IndexPart[];
}

/**
 * The parts of an index in order of deletion: the checkpoint first, since without it nothing is served or continued.
 * Throws TypeError for a collection without a chainId; a test searches the sources for collections that are in no list.
 *
 * @param chainId undefined where the store holds one chain alone
 */
export function partsOfIndex(
  collections: readonly Collection[],
  chainId: number | undefined,
): readonly IndexPart[] {
  const parts = collections.map((each): IndexPart => {
    if (chainId === undefined) return { collection: each, filter: {} };
    if (each.fields.chainId === "int") return { collection: each, filter: { chainId } };
    throw new TypeError(`Cannot delete one chain of collection "${each.name}": it has no chainId`);
  });
  const isCheckpoint = ({ collection: { name } }: IndexPart) => name === "checkpoints";
  return [...parts.filter(isCheckpoint), ...parts.filter((part) => !isCheckpoint(part))];
}

interface Deletion {
  readonly store: Store;
  readonly index: ChainIndex;
  /** The deletion holds the ingest's lease, which fences each of its writes. */
  readonly guard: Guard;
}

/** Rows of other chains are in the same collection: batches that block their ingests only briefly. */
const ROWS_AT_ONCE = 2_000;

/** Deletes a chain's index. Killed at any point, it leaves either the whole index or the marker. */
export async function deleteIndex({ store, index, guard }: Deletion): Promise<void> {
  const { name, parts } = index;
  await store.declare([reindexes]);
  await store.write([...guard(), put(reindexes, [{ name, startedAtMs: Date.now() }])]);
  for (const part of parts) await deletePart(part, { store, guard });
  await store.write([...guard(), remove(reindexes, [{ name }])]);
}

/** Finishes a deletion that was killed; returns whether there was one. */
export async function finishReindex(deletion: Deletion): Promise<boolean> {
  const { store, index } = deletion;
  if (!(await isReindexRunning(store, index))) return false;
  await deleteIndex(deletion);
  return true;
}

export async function isReindexRunning(store: Store, { name }: ChainIndex): Promise<boolean> {
  await store.declare([reindexes]);
  return (await store.get(reindexes, { name })) !== undefined;
}

async function deletePart(
  { collection: from, filter }: IndexPart,
  { store, guard }: Pick<Deletion, "store" | "guard">,
): Promise<void> {
  if (filter.chainId === undefined) return store.write([...guard(), removeWhere(from, {})]);
  for (;;) {
    const keys = await store.find(from, { filter, limit: ROWS_AT_ONCE, fields: from.key });
    if (keys.length === 0) return;
    await store.write([...guard(), remove(from, keys)]);
    // SQLite blocks the event loop: yield, so that the lease can be renewed.
    await nextTurn();
  }
}
