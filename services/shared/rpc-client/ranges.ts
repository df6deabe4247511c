export interface Segment {
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  /** For `recover` to count in. */
  refusals: number;
  failures: number;
}

export interface ReadRangesOptions<T> {
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
  /** How many numbers the next request should span. */
  readonly size: () => number;
  /** Requests in flight. */
  readonly concurrency: number;
  /** Answers waiting for the consumer at most, with those in flight. */
  readonly maxBuffered: number;
  read(from: number, to: number): Promise<T>;
  /** Whether a range is tried again (in smaller parts, if `size` says so by then); else its error is thrown in turn. */
  recover(error: unknown, segment: Segment, ended: AbortSignal): Promise<boolean>;
  readonly signal?: AbortSignal | undefined;
}

export interface ReadRange<T> {
  readonly from: number;
  readonly to: number;
  readonly value: T;
}

interface Part<T> extends Segment {
  to: number;
  state: "todo" | "running" | "done" | "failed";
  value?: T;
  error?: unknown;
}

/**
 * Reads a range in parts, several at once, and gives them strictly in order and without gaps: each begins where the
 * one before it ended. Throws what `read` threw once `recover` gives up (everything before the failing part has been
 * yielded by then), or the signal's reason.
 */
export async function* readRanges<T>(
  options: ReadRangesOptions<T>,
): AsyncGenerator<ReadRange<T>, void, undefined> {
  const { concurrency, signal } = options;
  const maxBuffered = Math.max(options.maxBuffered, concurrency);
  const queue: Part<T>[] = options.from > options.to ? [] : [createPart(options.from, options.to)];
  const ended = new AbortController();
  let notify = () => {};

  /** Starts requests: always for the part the consumer waits for, ahead of it as far as the buffer allows. */
  function pump(): void {
    for (let i = 0; i < queue.length; i++) {
      const part = queue[i] as Part<T>;
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

  function cutToSize(index: number, part: Part<T>): void {
    const end = part.from + options.size() - 1;
    if (end >= part.to) return;
    queue.splice(index + 1, 0, createPart(end + 1, part.to));
    part.to = end;
  }

  async function request(part: Part<T>): Promise<void> {
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
      const first = queue[0] as Part<T>;
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

function createPart<T>(from: number, to: number): Part<T> {
  return { from, to, state: "todo", refusals: 0, failures: 0 };
}

function countRunning(queue: readonly Part<unknown>[]): number {
  return queue.reduce((count, part) => count + (part.state === "running" ? 1 : 0), 0);
}
