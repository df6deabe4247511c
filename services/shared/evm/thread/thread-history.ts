import type { EvmSource, HistoryPart, LogFilter, LogRange } from "../port.ts";
import { type PackedPart, packPart, unpackPart } from "./packed-part.ts";

/** A history crosses threads part by part, each when it is asked for. */
export type HistoryRequest =
  | { readonly kind: "open"; readonly id: number; readonly range: LogRange; readonly filter: LogFilter }
  | { readonly kind: "next"; readonly id: number }
  | { readonly kind: "close"; readonly id: number }
  | { readonly kind: "distrust"; readonly reason: string };

/** A thread that was just started is up within this time. */
const START_MS = 2_000;
const START_CHECK_MS = 50;

/** The thread's side: answers `open` and `distrust` with true, and `next` with a packed part, or undefined at the end. */
export function serveHistories(source: EvmSource): (request: HistoryRequest) => Promise<unknown> {
  const histories = new Map<number, { parts: AsyncIterator<HistoryPart>; stop: AbortController }>();

  function end(id: number): void {
    histories.get(id)?.stop.abort();
    histories.delete(id);
  }

  return async (request) => {
    if (request.kind === "distrust") {
      source.distrustHistory?.(request.reason);
      return true;
    }
    const { id } = request;
    if (request.kind === "close") return end(id);
    if (request.kind === "open") {
      const stop = new AbortController();
      const parts = source.history?.(request.range, request.filter, stop.signal);
      if (parts !== undefined) histories.set(id, { parts: parts[Symbol.asyncIterator](), stop });
      return parts !== undefined;
    }
    const next = await histories.get(id)?.parts.next();
    if (next?.done !== false) end(id);
    return next?.done === false ? packPart(next.value) : undefined;
  };
}

/** What answers in place of a thread that is not up: no history, or its end. */
export async function refuseHistory({ kind }: HistoryRequest): Promise<unknown> {
  return kind === "open" ? false : undefined;
}

/**
 * The caller's side: histories of the thread, those of `local` while it is not up. One that is under way when the thread
 * dies ends there.
 */
export function createThreadHistory(
  local: EvmSource,
  request: (request: HistoryRequest) => Promise<unknown>,
): Required<Pick<EvmSource, "history" | "distrustHistory">> {
  let nextId = 1;

  async function open(id: number, range: LogRange, filter: LogFilter, signal: AbortSignal): Promise<boolean> {
    const startedMs = performance.now();
    for (;;) {
      if ((await request({ kind: "open", id, range, filter })) === true) return true;
      if (signal.aborted || performance.now() - startedMs > START_MS) return false;
      await new Promise((resolve) => setTimeout(resolve, START_CHECK_MS));
    }
  }

  async function* history(
    range: LogRange,
    filter: LogFilter,
    signal: AbortSignal,
  ): AsyncGenerator<HistoryPart> {
    const id = nextId++;
    if (!(await open(id, range, filter, signal))) {
      yield* local.history?.(range, filter, signal) ?? [];
      return;
    }
    /** Asked for while the consumer works on the one before it. */
    const ask = () => {
      const part = untilAborted(request({ kind: "next", id }), signal);
      // Awaited later, or never: until then a failure must not count as unhandled.
      part.catch(() => {});
      return part as Promise<PackedPart | undefined>;
    };
    try {
      for (let next = ask(); ; ) {
        const part = await next;
        if (part === undefined) return;
        next = ask();
        yield unpackPart(part);
      }
    } finally {
      request({ kind: "close", id }).catch(() => {});
    }
  }

  return {
    history,
    distrustHistory(reason) {
      const told = request({ kind: "distrust", reason }).catch(() => false);
      void told.then((isTold) => {
        if (isTold !== true) local.distrustHistory?.(reason);
      });
    },
  };
}

/**
 * The same result; rejects with the signal's reason as soon as it aborts. No Promise.race with one promise of the abort
 * for all parts: a promise that lives as long as the history keeps every result that was raced with it, and so each part.
 */
function untilAborted<T>(awaited: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(signal.reason);
    if (signal.aborted) return fail();
    signal.addEventListener("abort", fail, { once: true });
    awaited.then(resolve, reject).finally(() => signal.removeEventListener("abort", fail));
  });
}
