import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type RunningGrpcServer, startGrpcServer } from "../../services/shared/grpc/server.ts";
import type { ChainStatus, LiveHead } from "../../services/shared/grpc/types.ts";
import { MAX_HEAD_BYTES } from "../../services/shared/http/server.ts";

interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
}

type Answer = (req: IncomingMessage, res: ServerResponse) => void | Promise<void>;

/** A fake service over real HTTP and real gRPC health. */
export interface FakeUpstream {
  readonly url: string;
  readonly grpc: string;
  /** Requests for endpoints, oldest first; probes are left out. */
  readonly seen: SeenRequest[];
  /** How the next requests are answered. */
  answer: Answer;
  healthy: boolean;
  /** Milliseconds by which probes are answered late. */
  probeDelayMs: number;
  /** What its status reports of its chains. */
  chains: readonly ChainStatus[];
  /** Listeners to its heads: one for each gateway that has streams. */
  readonly headListeners: ReadonlySet<(head: LiveHead) => void>;
  /** Tells a new head. */
  tellHead(head: LiveHead): void;
  /** Ends both servers at once, as a kill would. */
  stop(): Promise<void>;
  /** Listens again at the same addresses. */
  restart(): Promise<void>;
}

export async function startFakeUpstream(name = "fake"): Promise<FakeUpstream> {
  const seen: SeenRequest[] = [];
  const headListeners = new Set<(head: LiveHead) => void>();
  const heads = new Map<number, LiveHead>();
  const sockets = new Set<Socket>();

  const listenOn = async (httpPort: number, grpcPort: number) => {
    const http = createServer({ maxHeaderSize: MAX_HEAD_BYTES }, (req, res) => {
      if (req.url === "/livez") {
        // A probe that the gateway gave up on must not keep the tests from ending.
        void sleep(upstream.probeDelayMs, undefined, { ref: false }).then(() => res.end("ok"));
        return;
      }
      // A service without examples, as those of another version are.
      if (req.url?.startsWith("/internal/")) {
        res.writeHead(404).end();
        return;
      }
      const { method = "", url = "", headers, rawHeaders } = req;
      seen.push({ method, url, headers, rawHeaders });
      void upstream.answer(req, res);
    });
    http.on("connection", (socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => http.listen(httpPort, "127.0.0.1", resolve));
    const grpc = await startGrpcServer({
      host: "127.0.0.1",
      port: grpcPort,
      services: {
        status: {
          async getStatus() {
            const { chains } = upstream;
            return { service: name, mode: "serving", version: "0", chains, peers: [] };
          },
        },
        heads: {
          watch(listener) {
            headListeners.add(listener);
            for (const head of heads.values()) listener(head);
            return () => void headListeners.delete(listener);
          },
        },
        health: async () => {
          // The same.
          if (upstream.probeDelayMs > 0) await sleep(upstream.probeDelayMs, undefined, { ref: false });
          return upstream.healthy;
        },
      },
    });
    return { http, grpc };
  };

  const upstream: FakeUpstream = {
    url: "",
    grpc: "",
    seen,
    answer: answerTable,
    healthy: true,
    probeDelayMs: 0,
    chains: [],
    headListeners,
    tellHead(head) {
      heads.set(head.chainId, head);
      for (const listener of headListeners) listener(head);
    },
    async stop() {
      const { http, grpc } = running;
      const closed = new Promise((resolve) => http.close(resolve));
      for (const socket of sockets) socket.destroy();
      await Promise.all([closed, grpc.stop({ timeoutMs: 0 })]);
    },
    async restart() {
      running = await listenOn(Number(new URL(upstream.url).port), Number(upstream.grpc.split(":")[1]));
    },
  };
  let running: { http: Server; grpc: RunningGrpcServer } = await listenOn(0, 0);
  const { port } = running.http.address() as AddressInfo;
  return Object.assign(upstream, { url: `http://127.0.0.1:${port}`, grpc: running.grpc.address });
}

/** The media type of each family's paths used in tests. */
export function mediaTypeOf(url: string): string {
  if (url.startsWith("/api/")) return "application/json";
  if (url.startsWith("/evm/lending/")) return "application/vnd.service.table.v0.0.1+json";
  return url.startsWith("/evm/dexa/v2/")
    ? "application/vnd.service.table.v2.0.0+json"
    : "application/vnd.service.table.v1.0.0+json";
}

export const TABLE_TEXT = '[{"columns":[{"name":"id","type":"UInt32"}],"data":[[8453]],"rows":1}]';

/** A good answer. */
export function answerTable(req: IncomingMessage, res: ServerResponse): void {
  res.writeHead(200, {
    "Content-Type": mediaTypeOf(req.url ?? ""),
    "Content-Length": Buffer.byteLength(TABLE_TEXT),
    ETag: 'W/"v7"',
    "Cache-Control": "private, max-age=1",
    "X-Data-Block": "7",
  });
  res.end(TABLE_TEXT);
}

/** A good answer of exactly so many bytes. */
export function answerTableOf(bytes: number): Answer {
  const empty = TABLE_TEXT.replace("8453", '""');
  const text = empty.replace('""', `"${"x".repeat(Math.max(0, bytes - empty.length))}"`);
  return (req, res) => {
    res.writeHead(200, {
      "Content-Type": mediaTypeOf(req.url ?? ""),
      "Content-Length": Buffer.byteLength(text),
    });
    res.end(text);
  };
}

/** An error in the documented form, with the session the gateway sent. */
export function answerError(status: number, error: string, message = "as the service said"): Answer {
  return (req, res) => {
    res.writeHead(status, { "Content-Type": "application/json" });
    res.end(JSON.stringify({ error, message, session: req.headers["x-session-id"] }));
  };
}
