import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

type Reply = Readonly<Record<string, unknown>> | number | "silent";

interface FakeEndpoints {
  /** The URL, with a password and a key, of an endpoint that answers every request alike; a number is an HTTP status. */
  readonly endpoint: (reply: Reply) => Promise<string>;
  /** A URL at which nothing listens any more. Not a low port: Deno's fetch refuses those by itself. */
  deadUrl(): Promise<string>;
  close(): void;
}

export function createFakeEndpoints(): FakeEndpoints {
  const servers: Server[] = [];
  const endpoint = async (reply: Reply): Promise<string> => {
    const server = createServer((req, res) => {
      let text = "";
      req.on("data", (part) => {
        text += part;
      });
      req.on("end", () => {
        if (reply === "silent") return;
        if (typeof reply === "number") return res.writeHead(reply).end("no");
        return res.end(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(text).id, ...reply }));
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://user:secret-password@127.0.0.1:${(server.address() as AddressInfo).port}/v3/secret-key`;
  };
  return {
    endpoint,
    async deadUrl() {
      const { href } = new URL("/secret-key", await endpoint(200));
      await new Promise((resolve) => servers.pop()?.close(resolve));
      return href;
    },
    close() {
      for (const server of servers.splice(0)) server.close().closeAllConnections();
    },
  };
}
