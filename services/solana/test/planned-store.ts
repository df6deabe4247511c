import type { Collection, RowOf } from "../../shared/storage/collection.ts";
import type { Query, Store } from "../../shared/storage/port.ts";
import { storeWith } from "../../shared/storage/within.ts";

/** The same store, which refuses to answer a query that the engine would answer by reading a whole collection. */
export function refuseScans(store: Store): Store {
  const check = async <C extends Collection>(from: C, query: Query<RowOf<C>>): Promise<void> => {
    const plan = await store.plan(from, query);
    if (plan === "scan") throw new Error(`Reading ${from.name} scans it: ${describe(query)}`);
  };
  const find: Store["find"] = async (from, query) => {
    await check(from, query as Query<RowOf<typeof from>>);
    return store.find(from, query);
  };
  const count: Store["count"] = async (from, filter, selection) => {
    await check(from, { filter, ...selection });
    return store.count(from, filter, selection);
  };
  const sum: Store["sum"] = async (from, filter, fields) => {
    await check(from, { filter });
    return store.sum(from, filter, fields);
  };
  const within: Store["within"] = (signal) => refuseScans(store.within(signal));
  return storeWith(store, { find, count, sum, within });
}

function describe(query: object): string {
  return JSON.stringify(query, (_key, value) => (typeof value === "bigint" ? `${value}` : value));
}
