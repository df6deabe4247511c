import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { startGrpcServer } from "../../services/shared/grpc/server.ts";

export interface Upstream {
  readonly port: number;
  readonly grpc: string;
  /** Requests answered. */
  readonly received: () => number;
  stop(): Promise<void>;
}

/**
 * A service that costs next to nothing: one fixed response to every request, from a raw socket, so that the machine is
 * left to the proxy in front of it. Reports over gRPC that it serves, as the gateway requires.
 */
export async function startUpstream(answer: {
  readonly mediaType: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}): Promise<Upstream> {
  const lines = {
    "Content-Type": answer.mediaType,
    "Content-Length": String(Buffer.byteLength(answer.body)),
    ...answer.headers,
  };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
  const bytes = Buffer.from(`HTTP/1.1 200 OK\r\n${head.join("")}\r\n${answer.body}`);
  const sockets = new Set<Socket>();
  let received = 0;
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    // Each client waits for its response before the next request: a chunk is one request or a part of it.
    socket.on("data", (chunk) => {
      if (!endsHead(chunk)) return;
      received += 1;
      socket.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const status = { service: "bench", mode: "serving" as const, version: "0", chains: [], peers: [] };
  const grpc = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    services: { status: { getStatus: async () => status }, health: async () => true },
  });
  return {
    port: (server.address() as AddressInfo).port,
    grpc: grpc.address,
    received: () => received,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await Promise.all([new Promise((resolve) => server.close(resolve)), grpc.stop({ timeoutMs: 0 })]);
    },
  };
}

function endsHead(chunk: Buffer): boolean {
  const { length } = chunk;
  return length >= 4 && chunk[length - 1] === 10 && chunk[length - 3] === 10;
}
