export interface RangePart {
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  /** Counters for `recover`. */
  refusals: number;
  failures: number;
}

export interface ReadRangesOptions<T> {
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  /** The length of the next request's range. */
  readonly size: () => number;
  /** Requests in flight. */
  readonly concurrency: number;
  /** Maximum of parts in flight or waiting for the consumer. */
  readonly maxBuffered: number;
  read(from: number, to: number): Promise<T>;
  /** Whether to retry a range (in smaller parts if `size` has shrunk); else its error is thrown when its turn comes. */
  recover(error: unknown, part: RangePart, ended: AbortSignal): Promise<boolean>;
  readonly signal?: AbortSignal | undefined;
}

export interface ReadRange<T> {
  readonly from: number;
  readonly to: number;
  readonly value: T;
}

interface QueuedPart<T> extends RangePart {
  to: number;
  state: "todo" | "running" | "done" | "failed";
  value?: T;
  error?: unknown;
}

/**
 * Reads a range in parts, several at once, and yields them strictly in order and without gaps. Throws the error of `read`
 * when `recover` returns false, after yielding all parts before it; or the signal's reason.
 */
export async function* readRanges<T>(
  options: ReadRangesOptions<T>,
): AsyncGenerator<ReadRange<T>, void, undefined> {
  const { concurrency, signal } = options;
  const maxBuffered = Math.max(options.maxBuffered, concurrency);
  const queue: QueuedPart<T>[] = options.from > options.to ? [] : [createPart(options.from, options.to)];
  const ended = new AbortController();
  let notify = () => {};

  /** Starts requests: always for the part that the consumer waits for, for later ones as far as the buffer allows. */
  function pump(): void {
    for (let i = 0; i < queue.length; i++) {
      const part = queue[i] as QueuedPart<T>;
      if (part.state === "failed") return;
      if (part.state !== "todo") continue;
      if (i > 0 && (i >= maxBuffered || countRunning(queue) >= concurrency)) return;
      cutToSize(i, part);
      part.state = "running";
      void request(part).then(() => {
        if (!ended.signal.aborted) pump();
        notify();
      });
    }
  }

  function cutToSize(index: number, part: QueuedPart<T>): void {
    const end = part.from + options.size() - 1;
    if (end >= part.to) return;
    queue.splice(index + 1, 0, createPart(end + 1, part.to));
    part.to = end;
  }

  async function request(part: QueuedPart<T>): Promise<void> {
    try {
      part.value = await options.read(part.from, part.to);
      part.state = "done";
    } catch (error) {
      if (await options.recover(error, part, ended.signal)) part.state = "todo";
      else {
        part.error = error;
        part.state = "failed";
      }
    }
  }

  const onAbort = () => notify();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    while (queue.length > 0) {
      signal?.throwIfAborted();
      const first = queue[0] as QueuedPart<T>;
      if (first.state === "failed") throw first.error;
      if (first.state === "done") {
        queue.shift();
        pump();
        yield { from: first.from, to: first.to, value: first.value as T };
        continue;
      }
      const changed = new Promise<void>((resolve) => {
        notify = resolve;
      });
      pump();
      await changed;
    }
  } finally {
    ended.abort();
    signal?.removeEventListener("abort", onAbort);
  }
}

function createPart<T>(from: number, to: number): QueuedPart<T> {
  return { from, to, state: "todo", refusals: 0, failures: 0 };
}

function countRunning(queue: readonly QueuedPart<unknown>[]): number {
  return queue.reduce((count, part) => count + (part.state === "running" ? 1 : 0), 0);
}
