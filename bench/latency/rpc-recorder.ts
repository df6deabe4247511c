import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** One request of JSON-RPC that went by; times are of performance.now. */
export interface SeenCall {
  readonly methods: readonly string[];
  readonly startedMs: number;
  readonly endedMs: number;
  readonly reply: Buffer;
}

export interface RpcRecorder {
  readonly url: string;
  /** Since the last `forget`, in the order of their ends. */
  readonly calls: readonly SeenCall[];
  forget(): void;
  stop(): void;
}

/** Stands between a program and its node, changes nothing, and notes when what was asked and answered. */
export async function startRpcRecorder(nodeUrl: string): Promise<RpcRecorder> {
  let calls: SeenCall[] = [];
  const agent = new Agent({ keepAlive: true, noDelay: true });
  const server = createServer({ noDelay: true }, async (incoming, outgoing) => {
    const startedMs = performance.now();
    const body = await buffer(incoming);
    const {
      "content-length": _length,
      host: _host,
      "accept-encoding": _coding,
      ...headers
    } = incoming.headers;
    const sent = request(nodeUrl, { agent, method: incoming.method, headers }, async (response) => {
      const reply = await buffer(response);
      const endedMs = performance.now();
      outgoing.writeHead(response.statusCode ?? 502, { "content-type": "application/json" }).end(reply);
      calls.push({ methods: methodsOf(body), startedMs, endedMs, reply });
    });
    sent.on("error", () => outgoing.destroy());
    sent.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get calls() {
      return calls;
    },
    forget() {
      calls = [];
    },
    stop() {
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  };
}

/** Without parsing bodies of some hundred kilobytes. */
function methodsOf(body: Buffer): string[] {
  return [...body.toString().matchAll(/"method":"(\w+)"/g)].map(([, name]) => name as string);
}
