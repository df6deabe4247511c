import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { listenForConnections, toServerConnection } from "../../../../services/shared/grpc/transport.ts";

export interface BytesListener {
  readonly port: number;
  /** On the wire, of all connections so far. */
  readonly sentBytes: number;
  close(): void;
}

/** HTTP/2 without TLS on a port of this machine, with the bytes counted that it sends. */
export async function listenHttp2(
  port: number,
  onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
): Promise<BytesListener> {
  const server = createServer();
  const sockets = new Set<Socket>();
  let closedBytes = 0;
  server.on("stream", onStream);
  server.on("sessionError", () => {});
  const listener = await listenForConnections({ host: "127.0.0.1", port }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      closedBytes += socket.bytesWritten;
    });
    server.emit("connection", toServerConnection(socket));
  });
  return {
    port: listener.port,
    get sentBytes() {
      return [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, closedBytes);
    },
    close() {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
