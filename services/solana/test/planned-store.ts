import type { Collection, Query, RowOf, Store } from "../../shared/storage/port.ts";

/** The same store, which refuses to answer a query that the engine would answer by reading a whole collection. */
export function refuseScans(store: Store): Store {
  const check = async <C extends Collection>(from: C, query: Query<RowOf<C>>): Promise<void> => {
    const plan = await store.plan(from, query);
    if (plan === "scan") throw new Error(`Reading ${from.name} scans it: ${describe(query)}`);
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === "find") {
        const find: Store["find"] = async (from, query) => {
          await check(from, query as Query<RowOf<typeof from>>);
          return target.find(from, query);
        };
        return find;
      }
      if (name === "count") {
        const count: Store["count"] = async (from, filter, selection) => {
          await check(from, { filter, ...selection });
          return target.count(from, filter, selection);
        };
        return count;
      }
      if (name === "sum") {
        const sum: Store["sum"] = async (from, filter, fields) => {
          await check(from, { filter });
          return target.sum(from, filter, fields);
        };
        return sum;
      }
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function describe(query: object): string {
  return JSON.stringify(query, (_key, value) => (typeof value === "bigint" ? `${value}` : value));
}
