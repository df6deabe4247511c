export interface LazyStore<T> {
  /** Opens it now, unless it is open; rejects when it cannot be reached, and after `close`. A later call tries again. */
  get(): Promise<T>;
  /** Closes it if it was opened, or is being opened. */
  close(): Promise<void>;
}

/**
 * A store that may be away when the gateway starts: it is opened at the first question that finds it. Otherwise a
 * database restart at the wrong moment would take the gateway down with it. A question that comes after the end opens
 * nothing: nobody would close it.
 */
export function openLazily<T extends { close(): Promise<void> }>(open: () => Promise<T>): LazyStore<T> {
  let opening: Promise<T> | undefined;
  let isClosed = false;
  return {
    async get() {
      if (isClosed) throw new Error("The store is closed");
      opening ??= open().catch((error) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
    async close() {
      isClosed = true;
      const store = await opening?.catch(() => undefined);
      await store?.close();
    },
  };
}
