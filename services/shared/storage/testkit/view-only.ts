import type { Collection } from "../collection.ts";
import type { Store } from "../port.ts";
import { READS } from "../within.ts";

const IS_READ: ReadonlySet<PropertyKey> = new Set(READS);

/**
 * A store that answers from views alone, as MongoDB with snapshots is read: a read past the view fails, which a test on
 * one engine would not notice. `exempt`: collections whose rows say the same at any time.
 */
export function viewOnly(store: Store, exempt: readonly Collection[] = []): Store {
  const take: Store["snapshot"] = async (_of, _key, read) => ({ value: await read(store) });
  return new Proxy(store, {
    get(target, name) {
      if (name === "engine") return "mongodb";
      if (name === "snapshot") return take;
      if (name === "within") return () => viewOnly(store, exempt);
      const own: unknown = Reflect.get(target, name);
      if (typeof own !== "function") return own;
      if (!IS_READ.has(name)) return own.bind(target);
      return async (from: Collection, ...rest: unknown[]) => {
        if (!exempt.includes(from)) throw new Error(`${String(name)} of ${from.name} is read past the view`);
        return (own as (...args: unknown[]) => unknown).call(target, from, ...rest);
      };
    },
  });
}
