import { openLazily } from "../lazy-store.ts";
import type { KeyDirectory, KeyStore } from "./keys/key-store.ts";
import type { UsageStore } from "./usage/usage-store.ts";

interface LazyKeyDirectory extends KeyDirectory {
  /** Opens the store now; rejects if it is unreachable. A later call retries. */
  open(): Promise<void>;
  /** Usage in the same store; rejects as `open` does. */
  usage(): Promise<UsageStore>;
  /** Closes the store if it was opened. */
  close(): Promise<void>;
}

export interface AuthStores {
  readonly keys: KeyStore;
  readonly usage: UsageStore;
  close(): Promise<void>;
}

/** A key directory whose store may be unreachable at start. */
export function createLazyKeyDirectory(openKeys: () => Promise<AuthStores>): LazyKeyDirectory {
  const store = openLazily(openKeys);
  return {
    async open() {
      await store.get();
    },
    async usage() {
      return (await store.get()).usage;
    },
    async findByHash(hash) {
      const { keys } = await store.get();
      return keys.findByHash(hash);
    },
    close: store.close,
  };
}
