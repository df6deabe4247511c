import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface IdleLimits {
  /** Between requests. */
  readonly idleMs: number;
  /** With an answer waiting of which the client takes nothing; noticed after this and before twice as much. */
  readonly stallMs: number;
}

/** Node notes there what it is answering. */
export type HttpSocket = Socket & { readonly _httpMessage?: ServerResponse | null };

interface Seen {
  bytesRead: number;
  /** Monotonic milliseconds: since when nothing has come, by the looks taken. */
  sinceMs: number;
}

const SWEEP_MS = 5_000;

/**
 * Closes connections that nobody asks on any more, and those whose client takes nothing of its answer. A look at all of
 * them every few seconds: Node's own `keepAliveTimeout` and `timeout` set and refresh timers with every request, at a
 * twentieth of what a short answer costs. An idle connection may live longer by one look.
 */
export function closeIdleConnections(server: Server, { idleMs, stallMs }: IdleLimits): void {
  server.keepAliveTimeout = 0;
  server.timeout = 0;
  const connections = new Map<HttpSocket, Seen>();
  server.on("connection", (socket: HttpSocket) => {
    connections.set(socket, { bytesRead: 0, sinceMs: performance.now() });
    socket.once("close", () => connections.delete(socket));
  });
  // Of a connection that was given a time below; Node's timer knows of bytes that leave in the middle of a write.
  server.on("timeout", (socket: Socket) => {
    if (socket.writableLength > 0) socket.destroy();
    else socket.setTimeout(0);
  });

  const look = (socket: HttpSocket, seen: Seen, nowMs: number): void => {
    const { bytesRead } = socket;
    // One that has said nothing yet is late with its first request, which the server answers itself.
    if (bytesRead !== seen.bytesRead || bytesRead === 0 || socket._httpMessage) {
      seen.bytesRead = bytesRead;
      seen.sinceMs = nowMs;
    } else if (nowMs - seen.sinceMs >= idleMs) {
      socket.destroy();
      return;
    }
    const isBusy = socket.writableLength > 0;
    const isTimed = Boolean(socket.timeout);
    if (isBusy !== isTimed) socket.setTimeout(isBusy ? stallMs : 0);
  };
  const sweep = setInterval(
    () => {
      const nowMs = performance.now();
      for (const [socket, seen] of connections) look(socket, seen, nowMs);
    },
    Math.min(SWEEP_MS, idleMs / 4, stallMs / 4),
  );
  sweep.unref();
  server.once("close", () => clearInterval(sweep));
}
