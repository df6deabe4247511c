/** The server's codes for "not this node, not now": it steps down, starts or shuts down, or the network failed. */
const TRANSIENT_CODES: ReadonlySet<number> = new Set([
  6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436,
]);
const TRANSIENT_NAMES =
  /^Mongo(Network|NetworkTimeout|ServerSelection|PoolCleared|PoolClosed|WaitQueueTimeout|NotConnected|TopologyClosed|ClientClosed)Error$/;
const PAUSES_MS = [100, 400, 1600];

interface MongoFailure {
  readonly name?: string;
  readonly code?: unknown;
  readonly errorLabels?: readonly string[];
  readonly errorResponse?: unknown;
}

/** Whether repeating the same operation may succeed. */
export function isTransient(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { name, code, errorLabels, errorResponse } = error as MongoFailure;
  if (typeof name === "string" && TRANSIENT_NAMES.test(name)) return true;
  if (typeof code === "number" && TRANSIENT_CODES.has(code)) return true;
  if (Array.isArray(errorLabels) && errorLabels.includes("RetryableWriteError")) return true;
  // A bulk write wraps the error that ended it.
  return errorResponse !== error && isTransient(errorResponse);
}

/** Whether the driver found no server, so that the operation did not run. */
export function wasNeverSent(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { name, errorResponse } = error as MongoFailure;
  return name === "MongoServerSelectionError" || (errorResponse !== error && wasNeverSent(errorResponse));
}

/** Retries work while its error `isRetryable`, at most four attempts; throws other errors at once. */
export async function retry<T>(
  work: () => Promise<T>,
  isRetryable: (error: unknown) => boolean,
  { pausesMs = PAUSES_MS }: { pausesMs?: readonly number[] } = {},
): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
    }
  }
  return work();
}
