import type { Store } from "../../shared/storage/port.ts";
import { openSqliteStore } from "../../shared/storage/sqlite.ts";
import { COLLECTIONS } from "../store/collections.ts";

/** An empty store in memory with the service's collections. */
export async function openTestStore(): Promise<Store> {
  const store = await openSqliteStore({ path: ":memory:" });
  await store.declare(COLLECTIONS);
  return store;
}
