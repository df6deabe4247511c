import { ApiError, UnreachableError } from "./errors.ts";

/** How often, and how long, the client goes on asking. */
export interface RetryOptions {
  /** Requests for one table at most; 4 by default, 1 asks once. */
  readonly tries?: number | undefined;
  /** The longest wait between two of them; 60,000 by default. An answer that asks for a longer one is an error at once. */
  readonly maxWaitMs?: number | undefined;
  /** Waits before the next try; by default by a timer. */
  readonly wait?: ((waitMs: number, signal: AbortSignal | undefined) => Promise<void>) | undefined;
}

const FIRST_WAIT_MS = 250;
/** At most this much is added to what Retry-After says, so that clients that were refused together do not return so. */
const MAX_JITTER_MS = 1_000;

/** Asks until it is answered: again after 429 and 503, when they say, and after failures of the network. */
export async function retry<T>(
  ask: () => Promise<T>,
  { tries = 4, maxWaitMs = 60_000, wait = waitByTimer }: RetryOptions,
  signal?: AbortSignal,
): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await ask();
    } catch (error) {
      signal?.throwIfAborted();
      const waitMs = waitAfter(error, tried);
      if (waitMs === undefined || tried >= tries || waitMs > maxWaitMs) throw error;
      await wait(waitMs, signal);
    }
  }
}

/** How long to wait after an error; undefined where it would only come again. */
function waitAfter(error: unknown, tried: number): number | undefined {
  const backoffMs = FIRST_WAIT_MS * 2 ** (tried - 1);
  if (error instanceof UnreachableError) return backoffMs * (0.5 + Math.random() / 2);
  if (!(error instanceof ApiError) || (error.status !== 429 && error.status !== 503)) return undefined;
  if (error.retryAfterSeconds === undefined) return backoffMs * (0.5 + Math.random() / 2);
  // Never earlier than it says.
  return error.retryAfterSeconds * 1_000 + Math.random() * Math.min(backoffMs, MAX_JITTER_MS);
}

/** Retry-After in seconds from now: a number, or a date. */
export function readRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, (atMs - Date.now()) / 1_000);
}

/** Rejects with the signal's reason when that aborts. */
export function waitByTimer(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", cancel);
      resolve();
    }, waitMs);
    signal?.addEventListener("abort", cancel, { once: true });
  });
}
