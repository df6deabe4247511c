export interface LazyStore<T> {
  /** Opens it now, unless it is open; rejects when it cannot be reached, and after `close`. A later call tries again. */
  get(): Promise<T>;
  /** Closes it if it was opened, or is being opened. */
  close(): Promise<void>;
}

/**
 * A store that may be down when the gateway starts: it is opened by the first call that reaches it. Otherwise a database
 * restart at the wrong moment would take the gateway down with it. A call after `close` opens nothing: it would stay open.
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
