import type { Clock } from "./clock.ts";
import type { SourceLog } from "./endpoint.ts";
import type { RpcCall } from "./transport.ts";

export interface HeadWake {
  /** Resolves on a new head, after the time, or when the signal aborts. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface HeadWakeOptions {
  /** Sent once a socket is open. */
  readonly subscribe: RpcCall;
  /** The method of the messages that follow. */
  readonly notification: string;
  /** ws:// or wss:// URLs; none = timer only. */
  readonly urls: readonly string[];
  readonly clock: Clock;
  readonly log: SourceLog;
  /** The runtime's WebSocket; undefined (Node 20) = timer only. */
  readonly socketClass: typeof WebSocket | undefined;
}

/** A subscription that has said nothing for this long is taken for dead: sockets stall without closing. */
const SILENCE_MS = 60_000;
const RECONNECT_MS = 1_000;
const MAX_RECONNECT_MS = 60_000;

/**
 * A subscription to new heads as a wake-up only: what arrives is never read as data, and a socket that is absent, refused or
 * stalled costs nothing but the timer's delay. Node 20 has no WebSocket; there the timer does everything.
 */
export function createHeadWake(options: HeadWakeOptions): HeadWake {
  const { urls, clock, log, socketClass } = options;
  const waiters = new Set<() => void>();
  let socket: WebSocket | undefined;
  let rung = false;
  let closed = false;
  let failures = 0;
  let nextTryAt = 0;
  let lastWordAt = 0;

  function ring(): void {
    lastWordAt = clock.now();
    failures = 0;
    if (waiters.size === 0) rung = true;
    for (const wake of waiters) wake();
  }

  function drop(dead: WebSocket): void {
    if (socket !== dead) return;
    socket = undefined;
    failures += 1;
    nextTryAt = clock.now() + Math.min(RECONNECT_MS * 2 ** (failures - 1), MAX_RECONNECT_MS);
    try {
      dead.close();
    } catch {
      // Closing a socket that never opened throws in one of the runtimes.
    }
  }

  function connect(): void {
    if (closed || socketClass === undefined || urls.length === 0) return;
    const now = clock.now();
    if (socket !== undefined && now - lastWordAt > SILENCE_MS) drop(socket);
    if (socket !== undefined || now < nextTryAt) return;
    const url = urls[failures % urls.length] as string;
    let opened: WebSocket;
    try {
      opened = new socketClass(url);
    } catch (error) {
      failures += 1;
      nextTryAt = now + Math.min(RECONNECT_MS * 2 ** (failures - 1), MAX_RECONNECT_MS);
      log("head subscription cannot start", {
        host: new URL(url).host,
        reason: error instanceof Error ? error.name : "unknown",
      });
      return;
    }
    socket = opened;
    lastWordAt = now;
    opened.onopen = () => opened.send(JSON.stringify({ jsonrpc: "2.0", id: 1, ...options.subscribe }));
    opened.onmessage = (event) => {
      if (typeof event.data === "string" && event.data.includes(options.notification)) ring();
    };
    opened.onerror = () => drop(opened);
    opened.onclose = () => drop(opened);
  }

  return {
    async wait(timeoutMs, signal) {
      if (signal.aborted || closed) return;
      connect();
      if (rung) {
        rung = false;
        return;
      }
      const woken = new AbortController();
      const wake = () => woken.abort();
      waiters.add(wake);
      signal.addEventListener("abort", wake, { once: true });
      await clock.sleep(timeoutMs, woken.signal);
      signal.removeEventListener("abort", wake);
      waiters.delete(wake);
    },
    close() {
      closed = true;
      for (const wake of waiters) wake();
      const open = socket;
      socket = undefined;
      open?.close();
    },
  };
}
