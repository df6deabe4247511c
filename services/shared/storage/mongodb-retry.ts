/** The server's codes for "not this node, not now": it steps down, starts or shuts down, or the network failed. */
const TRANSIENT_CODES: ReadonlySet<number> = new Set([6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]);
const TRANSIENT_NAMES = /^Mongo(Network|NetworkTimeout|ServerSelection|PoolCleared|WaitQueueTimeout|NotConnected)Error$/;
const PAUSES_MS = [100, 400, 1600];

/** Whether repeating the same operation may succeed. */
export function isTransient(error: unknown): boolean {
  const { name, code, errorLabels } = error as { name?: string; code?: unknown; errorLabels?: readonly string[] };
  if (typeof name === "string" && TRANSIENT_NAMES.test(name)) return true;
  if (typeof code === "number" && TRANSIENT_CODES.has(code)) return true;
  return Array.isArray(errorLabels) && errorLabels.includes("RetryableWriteError");
}

/** Repeats an operation that is harmless to repeat, four times at most; other errors pass at once. */
export async function retryTransient<T>(work: () => Promise<T>, pausesMs: readonly number[] = PAUSES_MS): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
    }
  }
  return work();
}
