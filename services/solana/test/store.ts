import type { Collection } from "../../shared/storage/collection.ts";
import { put, type Store } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite/store.ts";
import { COLLECTIONS, finalBlocks, journal } from "../store/collections.ts";

/** An empty store in memory with the service's collections. */
export async function openTestStore(): Promise<Store> {
  const store = await openSqliteStore({ path: ":memory:" });
  await store.declare(COLLECTIONS);
  return store;
}

/** Fills a store with the rows of another: in less time than by indexing them again. */
export async function copyRows(from: Store, to: Store): Promise<void> {
  for (const each of COLLECTIONS as readonly Collection[])
    await to.write([put(each, await from.find(each, {}))]);
}

/** Everything in a store but how it could be taken back, and what is known of the cluster. */
export async function contents(store: Store): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const each of COLLECTIONS as readonly Collection[]) {
    if (each === (journal as Collection) || each === (finalBlocks as Collection)) continue;
    const rows = await store.find(each, {});
    found[each.name] = rows.map(({ headSlot: _, finalizedSlot: __, ...row }) => row);
  }
  return found;
}
