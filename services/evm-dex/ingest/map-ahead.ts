/**
 * Maps in order with up to `ahead` results under way while the consumer works. An error of the source or of the
 * mapping surfaces where its item would have come; what is under way by then is left to finish unseen.
 */
export async function* mapAhead<T, R>(
  source: AsyncIterable<T>,
  map: (item: T) => Promise<R>,
  ahead: number,
): AsyncGenerator<R> {
  const queue: Promise<R>[] = [];
  for await (const item of source) {
    const result = map(item);
    // Awaited later: until then a failure must not count as unhandled.
    result.catch(() => {});
    queue.push(result);
    if (queue.length > ahead) yield await (queue.shift() as Promise<R>);
  }
  for (const result of queue) yield await result;
}
