import type { Collection } from "./collection.ts";
import type { Store } from "./port.ts";

/** The methods that read rows; their first argument is the collection. */
export const READS = ["get", "getMany", "getLast", "find", "count", "sum"] as const;

type Read = (from: Collection, ...rest: unknown[]) => Promise<unknown>;

/** Store.within of an engine whose single reads cannot be interrupted: they are not begun. */
export function unlessAborted(store: Store, signal: AbortSignal): Store {
  const read = (name: (typeof READS)[number]) => {
    const own = (store[name] as Read).bind(store);
    return async (from: Collection, ...rest: unknown[]) => {
      signal.throwIfAborted();
      return own(from, ...rest);
    };
  };
  return storeWith(store, {
    ...Object.fromEntries(READS.map((name) => [name, read(name)])),
    async snapshot(target, key, work) {
      signal.throwIfAborted();
      return store.snapshot(target, key, (view) => work(unlessAborted(view, signal)));
    },
    within: (other) => unlessAborted(store, AbortSignal.any([signal, other])),
  });
}

/** A store with some of its methods replaced, of those within a signal too; the others are its own. */
export function storeWith(store: Store, replaced: Partial<Store>): Store {
  const within: Store["within"] = (signal) => storeWith(store.within(signal), replaced);
  const own: Partial<Store> = { within, ...replaced };
  return new Proxy(store, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof Store];
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
