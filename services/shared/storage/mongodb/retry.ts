import { StoreAwayError } from "../port.ts";

/** The server's codes for "not this node, not now": it steps down, starts or shuts down, or the network failed. */
const TRANSIENT_CODES: ReadonlySet<number> = new Set([
  6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436,
]);
/** Those that only a server gives which takes writes no longer, and one of which the driver has waited in vain. */
const FAILOVER_CODES: ReadonlySet<number> = new Set([91, 189, 10107, 11600, 11602, 13435, 13436]);
const FAILOVER_NAMES = /^(MongoNetworkTimeout|PoolClearedOnNetwork)Error$/;
/** The pool that is cleared because the server is silent has a name without the prefix (7.8.0). */
const TRANSIENT_NAMES =
  /^(Mongo(Network|NetworkTimeout|ServerSelection|PoolCleared|PoolClosed|WaitQueueTimeout|NotConnected|TopologyClosed|ClientClosed)|PoolClearedOnNetwork)Error$/;
/** The driver passes errors of a socket on as they are where the server ends it before a command is written. */
const SOCKET_CODES: ReadonlySet<unknown> = new Set([
  "EPIPE",
  "ECONNRESET",
  "ECONNREFUSED",
  "ECONNABORTED",
  "ETIMEDOUT",
]);
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
  if (typeof code === "number" ? TRANSIENT_CODES.has(code) : SOCKET_CODES.has(code)) return true;
  if (Array.isArray(errorLabels) && errorLabels.includes("RetryableWriteError")) return true;
  // A bulk write wraps the error that ended it.
  return errorResponse !== error && isTransient(errorResponse);
}

/** Whether another server may take the writes from now on, so that it is open which of the last ones it has. */
export function isFailover(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { name, code, errorResponse } = error as MongoFailure;
  if (typeof name === "string" && FAILOVER_NAMES.test(name)) return true;
  if (typeof code === "number" && FAILOVER_CODES.has(code)) return true;
  return errorResponse !== error && isFailover(errorResponse);
}

/** Whether the driver found no server, so that the operation did not run. */
export function wasNeverSent(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { name, errorResponse } = error as MongoFailure;
  return name === "MongoServerSelectionError" || (errorResponse !== error && wasNeverSent(errorResponse));
}

/** Throws what says that the server is away as the store's own error. */
export async function markAway<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isTransient(error) ? new StoreAwayError(error) : error;
  }
}

export interface RetryOptions {
  /** Before repetitions; each is lengthened or shortened by up to a half. */
  readonly pausesMs?: readonly number[];
  /** No attempt begins so long after the first. */
  readonly patienceMs?: number;
}

/** Retries work while its error `isRetryable`, at most four attempts; throws other errors at once. */
export async function retry<T>(
  work: () => Promise<T>,
  isRetryable: (error: unknown) => boolean,
  { pausesMs = PAUSES_MS, patienceMs = Number.POSITIVE_INFINITY }: RetryOptions = {},
): Promise<T> {
  const startedMs = performance.now();
  for (const pauseMs of pausesMs) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || performance.now() - startedMs > patienceMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
    }
  }
  return work();
}
