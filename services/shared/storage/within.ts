import type { Collection, Store } from "./port.ts";

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
  return replaceMethods(store, {
    ...Object.fromEntries(READS.map((name) => [name, read(name)])),
    async snapshot(...[target, key, work]: Parameters<Store["snapshot"]>) {
      signal.throwIfAborted();
      return store.snapshot(target, key, (view) => work(unlessAborted(view, signal)));
    },
    within: (other: AbortSignal) => unlessAborted(store, AbortSignal.any([signal, other])),
  });
}

/** A store with other methods in the place of some of its own. */
export function replaceMethods(store: Store, methods: Readonly<Record<string, unknown>>): Store {
  return new Proxy(store, {
    get(target, name) {
      if (Object.hasOwn(methods, name)) return methods[name as string];
      const own: unknown = Reflect.get(target, name);
      return typeof own === "function" ? own.bind(target) : own;
    },
  });
}
