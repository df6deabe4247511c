/**
 * Maps in order with up to `ahead` results pending while the consumer works. An error of the source or of the mapping
 * is thrown in place of its item; results pending by then are ignored.
 */
export async function* prefetchMap<T, R>(
  source: AsyncIterable<T>,
  map: (item: T) => Promise<R>,
  ahead: number,
): AsyncGenerator<R> {
  const queue: Promise<R>[] = [];
  const items = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await items.next().catch((error: unknown) => ({ error }));
      if ("error" in next || next.done === true) {
        // Items from before the end, or the error, come first.
        for (const result of queue) yield await result;
        if ("error" in next) throw next.error;
        return;
      }
      const result = map(next.value);
      // Awaited later: until then a failure must not count as unhandled.
      result.catch(() => {});
      queue.push(result);
      if (queue.length > ahead) yield await (queue.shift() as Promise<R>);
    }
  } finally {
    await items.return?.();
  }
}

/** The same items, each requested while the consumer works on the one before it. */
export async function* prefetchNext<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = items.next();
  try {
    for (;;) {
      const item = await next;
      if (item.done === true) return;
      next = items.next();
      // Awaited later, or never: until then a failure must not count as unhandled.
      next.catch(() => {});
      yield item.value;
    }
  } finally {
    // Not awaited: the source may itself be waiting.
    items.return(undefined).catch(() => {});
  }
}
