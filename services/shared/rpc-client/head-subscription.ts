import type { Clock } from "./endpoint/clock.ts";
import type { SourceLog } from "./endpoint/endpoint.ts";
import type { RpcCall } from "./endpoint/transport.ts";

export interface HeadSubscription {
  /** Resolves on a new head (true), after the timeout, or when the signal aborts. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<boolean>;
  close(): void;
}

export interface HeadSubscriptionOptions {
  /** Sent when a socket opens. */
  readonly subscribe: RpcCall;
  /** The method of the notifications. */
  readonly notification: string;
  /** ws:// or wss:// URLs; none = timer only. */
  readonly urls: readonly string[];
  readonly clock: Clock;
  readonly log: SourceLog;
  /** The runtime's WebSocket; undefined (Node 20) = timer only. */
  readonly socketClass: typeof WebSocket | undefined;
}

/** A subscription without a message for this long is reconnected: sockets stall without closing. */
const STALL_MS = 60_000;
const RECONNECT_MS = 1_000;
const MAX_RECONNECT_MS = 60_000;

/**
 * A subscription to new heads that only ends a wait: notifications are never read as data, and without a working socket
 * the head is polled with the timeout. Node 20 has no WebSocket, and always polls.
 */
export function createHeadSubscription(options: HeadSubscriptionOptions): HeadSubscription {
  const { urls, clock, log, socketClass } = options;
  const waiters = new Set<() => void>();
  let socket: WebSocket | undefined;
  let isNotified = false;
  let closed = false;
  let failures = 0;
  let nextTryAt = 0;
  let lastMessageAt = 0;

  function notify(): void {
    lastMessageAt = clock.now();
    failures = 0;
    if (waiters.size === 0) isNotified = true;
    for (const resume of waiters) resume();
  }

  function drop(dead: WebSocket): void {
    if (socket !== dead) return;
    socket = undefined;
    failures += 1;
    nextTryAt = clock.now() + Math.min(RECONNECT_MS * 2 ** (failures - 1), MAX_RECONNECT_MS);
    try {
      dead.close();
    } catch {
      // One of the runtimes throws when a socket that never opened is closed.
    }
  }

  function connect(): void {
    if (closed || socketClass === undefined || urls.length === 0) return;
    const now = clock.now();
    if (socket !== undefined && now - lastMessageAt > STALL_MS) drop(socket);
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
    lastMessageAt = now;
    opened.onopen = () => opened.send(JSON.stringify({ jsonrpc: "2.0", id: 1, ...options.subscribe }));
    opened.onmessage = (event) => {
      if (typeof event.data === "string" && event.data.includes(options.notification)) notify();
    };
    opened.onerror = () => drop(opened);
    opened.onclose = () => drop(opened);
  }

  return {
    async wait(timeoutMs, signal) {
      if (signal.aborted || closed) return false;
      connect();
      if (isNotified) {
        isNotified = false;
        return true;
      }
      const resumed = new AbortController();
      let isHead = false;
      const resume = () => resumed.abort();
      const wake = () => {
        isHead = !closed;
        resume();
      };
      waiters.add(wake);
      signal.addEventListener("abort", resume, { once: true });
      await clock.sleep(timeoutMs, resumed.signal);
      signal.removeEventListener("abort", resume);
      waiters.delete(wake);
      return isHead;
    },
    close() {
      closed = true;
      for (const resume of waiters) resume();
      const open = socket;
      socket = undefined;
      open?.close();
    },
  };
}
