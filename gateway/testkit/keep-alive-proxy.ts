import { Agent, createServer, request as sendRequest } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** A load balancer in front of gateways: one pool of kept connections for all clients, the last one used first. */
interface KeepAliveProxy {
  readonly url: string;
  /** Requests that were sent on a connection that had carried another one before. */
  reused(): number;
  stop(): Promise<void>;
}

/**
 * Passes on any method, target, header and body as it comes, and the answer as it comes; 502 where the other end closes
 * without one. It repeats nothing: a request that the gateway drops shows.
 */
export async function startKeepAliveProxy(origin: string, maxSockets: number): Promise<KeepAliveProxy> {
  const { hostname, port } = new URL(origin);
  const agent = new Agent({ keepAlive: true, maxSockets, scheduling: "lifo" });
  const sockets = new Set<Socket>();
  let reused = 0;
  const server = createServer((req, res) => {
    const { method, url: path, rawHeaders } = req;
    const headers: [string, string][] = [];
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at] as string;
      if (!/^(connection|keep-alive|expect)$/i.test(name)) headers.push([name, rawHeaders[at + 1] as string]);
    }
    const passed = sendRequest({ agent, hostname, port, method, path, setHost: false });
    for (const [name, value] of headers) passed.setHeader(name, value);
    passed.on("response", (answer) => {
      if (passed.reusedSocket) reused += 1;
      // Of this connection, not of the client's.
      const { connection: _kept, "keep-alive": _time, ...headers } = answer.headers;
      res.writeHead(answer.statusCode as number, headers);
      answer.pipe(res);
    });
    passed.on("error", () => {
      if (res.headersSent) res.destroy();
      else res.writeHead(502).end();
    });
    req.on("error", () => passed.destroy());
    req.pipe(passed);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reused: () => reused,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      agent.destroy();
      await closed;
    },
  };
}
