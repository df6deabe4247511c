import type { Server } from "node:http";
import type { Socket } from "node:net";

/** How long a closed connection waits for its client to close it too (nginx's lingering_timeout is 5 s). */
const LINGER_MS = 2_000;

const lingering = new WeakSet<Socket>();

/** Whether the server has ended this connection and discards whatever still arrives on it. */
export function isLingering(socket: Socket): boolean {
  return lingering.has(socket);
}

/**
 * Closes connections as RFC 9112 §9.6 advises: ends our side, then discards what the client still sends until it closes
 * its own. node:http destroys the socket at once; a request that arrives meanwhile, or lies unread, makes the kernel
 * reset the connection, and the client loses the responses that are on their way.
 */
export function closeWithLinger(server: Server): void {
  server.on("connection", (socket: Socket) => {
    socket.destroySoon = () => linger(socket);
  });
}

function linger(socket: Socket): void {
  if (lingering.has(socket) || socket.destroyed) return;
  lingering.add(socket);
  // Takes the bytes from the HTTP parser as well, which would answer further requests.
  socket.removeAllListeners("data");
  socket.on("data", () => {});
  socket.resume();
  // The socket destroys itself when both sides have ended.
  socket.once("finish", () => {
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(timer));
  });
  socket.end();
}
