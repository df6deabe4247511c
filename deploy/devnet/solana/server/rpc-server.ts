import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { NodeChain } from "./node-chain.ts";
import { callMethod, type MissingCode, RpcError } from "./rpc-methods.ts";
import { parseJson, serveSubscriptions } from "./subscriptions.ts";
import type { TextSocket } from "./websocket.ts";

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What happens to a call, or to the whole request that it comes in, in place of an answer. */
export type Fault =
  | { readonly error: { readonly code: number; readonly message: string } }
  | { readonly result: unknown }
  | { readonly status: number; readonly body?: string; readonly headers?: Readonly<Record<string, string>> }
  /** It is read and never answered. */
  | "hang"
  /** The connection is cut. */
  | "reset";

/** What goes wrong, changed by tests while the server runs. */
export interface RpcFaults {
  /** Slots whose blocks the node acts as if it did not have, in getBlock and getBlocks. */
  readonly hidden: Set<number>;
  /** What it says of slots without a block; default -32007. */
  missingCode: MissingCode;
  /** Called before each call; undefined = the call is answered. */
  intercept: ((call: RpcCall) => Fault | undefined) | undefined;
}

export interface RpcServer {
  readonly url: string;
  readonly wsUrl: string;
  readonly faults: RpcFaults;
  /** How often each method was called. */
  readonly calls: ReadonlyMap<string, number>;
  /** Size of all bodies sent, uncompressed. */
  readonly sentBytes: number;
  close(): Promise<void>;
}

type CallFault = Extract<Fault, { error: unknown } | { result: unknown }>;
type RequestFault = Exclude<Fault, CallFault>;
type IncomingCall = Partial<RpcCall> & { readonly id?: unknown };

const LARGEST_REQUEST = 1_000_000;

/** Solana's JSON-RPC over a chain, with slotSubscribe on the same port. */
export async function startRpcServer(chain: NodeChain, { port = 0 } = {}): Promise<RpcServer> {
  const faults: RpcFaults = { hidden: new Set(), missingCode: -32007, intercept: undefined };
  const calls = new Map<string, number>();
  let sentBytes = 0;
  const send = (response: ServerResponse, body: string): void => {
    sentBytes += Buffer.byteLength(body);
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  };
  const sockets = new Set<TextSocket>();
  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = parseJson(await readBody(request));
    if (body === undefined)
      return send(response, '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}');
    const incoming: readonly IncomingCall[] = Array.isArray(body) ? body : [body];
    const parts: string[] = [];
    for (const { id, method = "", params = [] } of incoming) {
      calls.set(method, (calls.get(method) ?? 0) + 1);
      const fault = faults.intercept?.({ method, params });
      if (endsRequest(fault)) return endRequest(fault, request, response);
      parts.push(writeReply(id, () => callOrFail(fault, { method, params })));
    }
    send(response, Array.isArray(body) ? `[${parts.join(",")}]` : (parts[0] ?? ""));
  }

  function callOrFail(fault: CallFault | undefined, call: RpcCall): string {
    if (fault !== undefined && "error" in fault) throw new RpcError(fault.error.code, fault.error.message);
    return fault !== undefined && "result" in fault
      ? JSON.stringify(fault.result)
      : callMethod(chain, call, faults);
  }

  server.on("upgrade", (request: IncomingMessage, stream: Duplex) => {
    const socket = serveSubscriptions(chain, request, stream);
    if (socket === undefined) return;
    sockets.add(socket);
    stream.on("close", () => sockets.delete(socket));
  });

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound}`,
    wsUrl: `ws://127.0.0.1:${bound}`,
    faults,
    calls,
    get sentBytes() {
      return sentBytes;
    },
    async close() {
      for (const socket of sockets) socket.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function endsRequest(fault: Fault | undefined): fault is RequestFault {
  return typeof fault === "string" || (fault !== undefined && "status" in fault);
}

function endRequest(fault: RequestFault, request: IncomingMessage, response: ServerResponse): void {
  if (fault === "reset") request.socket.destroy();
  else if (fault !== "hang") response.writeHead(fault.status, fault.headers).end(fault.body ?? "");
}

function writeReply(id: unknown, answerIt: () => string): string {
  const name = JSON.stringify(id ?? null);
  try {
    return `{"jsonrpc":"2.0","id":${name},"result":${answerIt()}}`;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return JSON.stringify({
      jsonrpc: "2.0",
      id: id ?? null,
      error: { code: error.code, message: error.message },
    });
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  request.setEncoding("utf8");
  for await (const chunk of request) {
    body += chunk;
    if (body.length > LARGEST_REQUEST) throw new Error("The request is too large");
  }
  return body;
}
