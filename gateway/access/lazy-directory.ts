import type { UsageStore } from "../usage/usage-store.ts";
import type { KeyDirectory, KeyStore } from "./key-store.ts";

export interface LazyKeyDirectory extends KeyDirectory {
  /** Opens the store now; rejects when it cannot be reached. A later question tries again. */
  open(): Promise<void>;
  /** What is stored of usage, in the same store; rejects as open does. */
  usage(): Promise<UsageStore>;
  /** Closes the store if it was opened. */
  close(): Promise<void>;
}

export interface OpenedKeys {
  readonly keys: KeyStore;
  readonly usage: UsageStore;
  close(): Promise<void>;
}

/**
 * A key directory whose store may be away when the gateway starts: it is opened at the first question that finds it.
 * Otherwise a database restart at the wrong moment would take the gateway down with it.
 */
export function createLazyKeyDirectory(openKeys: () => Promise<OpenedKeys>): LazyKeyDirectory {
  let opening: Promise<OpenedKeys> | undefined;

  const opened = (): Promise<OpenedKeys> => {
    opening ??= openKeys().catch((error) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };

  return {
    async open() {
      await opened();
    },
    async usage() {
      return (await opened()).usage;
    },
    async findByHash(hash) {
      const { keys } = await opened();
      return keys.findByHash(hash);
    },
    async close() {
      const store = await opening?.catch(() => undefined);
      await store?.close();
    },
  };
}
