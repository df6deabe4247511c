import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { PendingResponse } from "./pending-responses.ts";

export interface IdleLimits {
  /** Between requests. */
  readonly idleMs: number;
  /** While the client reads nothing of a pending response; detected after this and before twice this time. */
  readonly stallMs: number;
}

interface ActivitySample {
  bytesRead: number;
  /** Monotonic milliseconds: the first sweep that saw this byte count. */
  sinceMs: number;
}

const SWEEP_MS = 5_000;

/**
 * Closes idle connections, and those whose client does not read its response, by one sweep every few seconds: Node's own
 * `keepAliveTimeout` and `timeout` set and refresh timers with every request, which costs a twentieth of a short
 * response. An idle connection may live one sweep longer.
 */
export function closeIdleConnections(
  server: Server,
  { idleMs, stallMs }: IdleLimits,
  pendingResponse: PendingResponse,
): void {
  server.keepAliveTimeout = 0;
  server.timeout = 0;
  const connections = new Map<Socket, ActivitySample>();
  server.on("connection", (socket: Socket) => {
    connections.set(socket, { bytesRead: 0, sinceMs: performance.now() });
    socket.once("close", () => connections.delete(socket));
  });
  // For connections with a timeout set below; Node's timer also sees bytes that leave in the middle of a write.
  server.on("timeout", (socket: Socket) => {
    if (socket.writableLength > 0) socket.destroy();
    else socket.setTimeout(0);
  });

  const look = (socket: Socket, seen: ActivitySample, nowMs: number): void => {
    const { bytesRead } = socket;
    // A connection without a first request runs into headersTimeout, which the server handles.
    if (bytesRead !== seen.bytesRead || bytesRead === 0 || pendingResponse(socket)) {
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
