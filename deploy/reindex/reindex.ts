import { deleteIndex, isReindexRunning } from "../../services/shared/ingest/reindex.ts";
import { findLeaseHolder, leases, tryAcquireLease } from "../../services/shared/storage/lease.ts";
import type { Store } from "../../services/shared/storage/port.ts";
import type { ServiceIndex } from "./indexes.ts";
import type { OpenedStore } from "./store.ts";

/** An ingest of the chain runs: it would go on writing. */
export class IngestRuns extends Error {
  override readonly name = "IngestRuns";
}

/** What there is of a chain in one store. */
export interface Contents {
  readonly service: string;
  readonly store: string;
  /** Rows by collection, in the order in which they are deleted. */
  readonly rows: Readonly<Record<string, number>>;
  /** Whether a reindex was killed here before it was done. */
  readonly isUnfinished: boolean;
  /** Whether another version has declared its collections, which have no row of any chain: they can be made anew. */
  readonly isToRenew: boolean;
}

export async function countIndex({ store, index, name, isOfOtherVersion }: OpenedStore): Promise<Contents> {
  const rows: Record<string, number> = {};
  for (const { collection, filter } of index.parts)
    rows[collection.name] = await store.count(collection, filter);
  return {
    ...{ service: index.service, store: name, rows },
    isUnfinished: await isReindexRunning(store, index),
    isToRenew: isOfOtherVersion && !(await hasRows(store, index)),
  };
}

async function hasRows(store: Store, { parts }: ServiceIndex): Promise<boolean> {
  for (const { collection } of parts)
    if ((await store.find(collection, { filter: {}, limit: 1 })).length > 0) return true;
  return false;
}

/** Whether there is nothing to do. */
export function isEmpty({ rows, isUnfinished, isToRenew }: Contents): boolean {
  return !isUnfinished && !isToRenew && Object.values(rows).every((count) => count === 0);
}

/** Throws IngestRuns where an ingest of the chain holds its lease. After a kill that takes the TTL to find out. */
export async function refuseBesideIngest({ store, index }: OpenedStore, ttlMs: number): Promise<void> {
  const holder = await findLeaseHolder(store, { name: index.name, ttlMs });
  if (holder !== undefined) throw refusalOf(index, holder);
}

function refusalOf({ name }: ServiceIndex, holder: string): IngestRuns {
  return new IngestRuns(`An ingest holds the lease ${name} (${holder}): stop it first. Nothing was deleted.`);
}

/** Deletes the index while it holds the lease of its ingest; returns the bytes given back. Throws IngestRuns. */
export async function reindexStore(opened: OpenedStore, ttlMs: number): Promise<number> {
  const { store, index } = opened;
  const holder = `reindex-${process.pid}-${crypto.randomUUID()}`;
  let other = "";
  const onWait = (name: string) => {
    other = name;
  };
  const lease = await tryAcquireLease(store, { name: index.name, holder, ttlMs, onWait });
  if (lease === undefined) throw refusalOf(index, other);
  try {
    await deleteIndex({ store, index, guard: () => [lease.guard()] });
    if (!(await hasOtherIngests(store, index)))
      await store.forget(index.parts.map(({ collection }) => collection));
    // Beside others that write it cannot be done: then the next rows use the space.
    return await opened.reclaim().catch(() => 0);
  } finally {
    await lease.release();
  }
}

/** Whether an ingest of another chain may be about to write its first row here: its lease was not released. */
async function hasOtherIngests(store: Store, { name }: ServiceIndex): Promise<boolean> {
  const held = await store.find(leases, { filter: { expiresAtMs: { gt: 0 } }, fields: ["name"] });
  return held.some((lease) => lease.name !== name);
}
