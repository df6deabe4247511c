import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export interface ProxyResponse {
  readonly status: number;
  readonly body: unknown;
}

/** What a proxy before the facilitator does with a request: passes it on, answers itself, or never. */
type ResponseOverride = (
  pass: () => Promise<ProxyResponse>,
  body: unknown,
) => Promise<ProxyResponse | "never">;

/** A proxy in front of a real facilitator that can delay, replace or drop its responses. */
export interface FacilitatorProxy {
  readonly url: string;
  /** Requests by path. */
  readonly requests: Record<string, number>;
  /** By path; absent = as the real one. */
  overrides: Record<string, ResponseOverride>;
  /** Refuses connections from now on. */
  stop(): Promise<void>;
  /** Listens again at the same address. */
  restart(): Promise<void>;
}

export async function startFacilitatorProxy(realUrl: string): Promise<FacilitatorProxy> {
  const sockets = new Set<Socket>();
  let server: Server;

  const listenOn = async (port: number) => {
    server = createServer(async (req, res) => {
      const path = req.url ?? "";
      front.requests[path] = (front.requests[path] ?? 0) + 1;
      let text = "";
      for await (const chunk of req) text += chunk;
      const pass = async (): Promise<ProxyResponse> => {
        const init = req.method === "POST" ? { method: "POST", body: text } : {};
        const headers = { "content-type": "application/json" };
        const answer = await fetch(`${realUrl}${path}`, { ...init, headers });
        return { status: answer.status, body: await answer.json() };
      };
      const behave = front.overrides[path] ?? ((real) => real());
      const answer = await behave(pass, text === "" ? undefined : JSON.parse(text));
      if (answer === "never") return;
      res.writeHead(answer.status, { "content-type": "application/json" });
      res.end(JSON.stringify(answer.body));
    });
    server.on("connection", (socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  };

  const front: FacilitatorProxy = {
    url: "",
    requests: {},
    overrides: {},
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    async restart() {
      await listenOn(Number(new URL(front.url).port));
    },
  };
  return Object.assign(front, { url: `http://127.0.0.1:${await listenOn(0)}` });
}
