import type { Clock } from "../rpc-client/endpoint/clock.ts";

interface Limit {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** The result of what is awaited; rejects with `reason` where it takes too long, or when the signal aborts. */
export async function within<T>(awaited: Promise<T>, reason: string, limit: Limit): Promise<T> {
  const { clock, ms, signal } = limit;
  const settled = new AbortController();
  // No AbortSignal.any: on Node 20 a signal that lives long remembers each that was made of it.
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
  });
  const late = clock.sleep(ms, settled.signal).then((): never => {
    throw new Error(`${reason} within ${ms} ms`);
  });
  // Failures count only while they are waited for.
  aborted.catch(() => {});
  late.catch(() => {});
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([awaited, late, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
    settled.abort();
  }
}

/** A small body as text: heads and errors. What is longer than a megabyte is neither. */
export async function readSmallBody(response: Response, limit: Limit): Promise<string> {
  const decoder = new TextDecoder();
  const read = async () => {
    let text = "";
    for await (const part of response.body ?? []) {
      text += decoder.decode(part, { stream: true });
      if (text.length > 1_048_576) throw new Error("the body is longer than a megabyte");
    }
    return text + decoder.decode();
  };
  return within(read(), "the body did not end", limit);
}
