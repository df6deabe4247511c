import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createRandom } from "../random.ts";

/** What can go wrong with a request; each has its own counter. */
export const FAULT_NAMES = [
  /** The request is read and never answered. */
  "hang",
  /** HTTP 429 with Retry-After. */
  "rateLimit",
  /** Half of the answer's bytes, as if the connection had been cut by a proxy. */
  "truncated",
  /** HTTP 502 with an HTML page. */
  "badGateway",
  /** The connection is reset. */
  "reset",
  /** An eth_getLogs that has logs is answered with none. */
  "emptyLogs",
  /** One log of an eth_getLogs answer comes twice. */
  "duplicateLogs",
  /** The whole request is answered by a node some blocks behind: lower head, short logs, missing blocks. */
  "headBack",
  /** An eth_getLogs over more than `rangeLimit` blocks is refused; always, not by chance. */
  "rangeTooLarge",
] as const;

export type FaultName = (typeof FAULT_NAMES)[number];
export type FaultCounts = Readonly<Record<FaultName, number>>;

export interface FaultyRpcOptions {
  /** URL of the node to forward to. */
  readonly target: string;
  /** Probability per HTTP request; what is absent does not happen. */
  readonly faults: Readonly<Partial<Record<Exclude<FaultName, "rangeTooLarge">, number>>>;
  /** How long each request takes beside what the node needs; default 0. */
  readonly latencyMs?: number;
  readonly seed: number;
  /** Blocks an eth_getLogs may span; absent = any. The refusals take turns between the words of three providers. */
  readonly rangeLimit?: number;
  /** Default 1. */
  readonly retryAfterS?: number;
  /** How many blocks behind a `headBack` answer is at most; default 5. */
  readonly maxBehind?: number;
  /** 0 or absent = a free port. */
  readonly port?: number;
}

export interface FaultyRpc {
  readonly url: string;
  /** HTTP requests so far, those that failed included. */
  requests(): number;
  counts(): FaultCounts;
  /** Replaces the probabilities, for a test that wants peace after the storm. */
  setFaults(faults: FaultyRpcOptions["faults"]): void;
  /** Another node answers from now on. */
  pointTo(target: string): void;
  close(): Promise<void>;
}

interface RpcRequest {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: readonly unknown[];
}

interface RpcReply {
  readonly id?: unknown;
  result?: unknown;
  error?: unknown;
}

/** Faults of the connection exclude each other; they are drawn in this order. */
const CONNECTION_FAULTS = ["hang", "rateLimit", "truncated", "badGateway", "reset"] as const;

/** The refusals of three providers for an eth_getLogs that spans too many blocks. */
const REFUSALS: readonly ((from: number, limit: number) => unknown)[] = [
  (from, limit) => ({
    code: -32600,
    message: `You can make eth_getLogs requests with up to a ${limit} block range. Based on your parameters, this block range should work: [${toHex(from)}, ${toHex(from + limit - 1)}]`,
  }),
  (from, limit) => ({
    code: -32005,
    message: `query returned more than 10000 results. Try with this block range [${toHex(from)}, ${toHex(from + limit - 1)}].`,
    data: { from: toHex(from), to: toHex(from + limit - 1), limit: 10_000 },
  }),
  () => ({ code: -32603, message: "block range is too wide" }),
];

/**
 * A JSON-RPC proxy on a port of this machine that does what providers do on bad days, by a seeded plan. Each request
 * (single or batch) draws its faults; what it did is counted. For tests and for trying out a configuration.
 */
export async function startFaultyRpc(options: FaultyRpcOptions): Promise<FaultyRpc> {
  const random = createRandom(options.seed);
  const counts = Object.fromEntries(FAULT_NAMES.map((name) => [name, 0])) as Record<FaultName, number>;
  const hanging = new Set<ServerResponse>();
  let faults = options.faults;
  let target = options.target;
  let requests = 0;

  function draw(name: keyof typeof faults): boolean {
    return random.next() < (faults[name] ?? 0);
  }

  function count(name: FaultName): void {
    counts[name] += 1;
  }

  async function forward(body: readonly RpcRequest[]): Promise<RpcReply[]> {
    if (options.latencyMs !== undefined) await sleep(options.latencyMs);
    const response = await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return (await response.json()) as RpcReply[];
  }

  async function answerCalls(calls: readonly RpcRequest[]): Promise<RpcReply[]> {
    const refused = new Map(calls.flatMap((call) => refuse(call).map((reply) => [call, reply] as const)));
    const passed = calls.filter((call) => !refused.has(call));
    const answered = passed.length === 0 ? [] : await forward(passed);
    if (draw("headBack") && (await setBack(passed, answered))) count("headBack");
    spoilLogs(passed, answered);
    const byId = new Map(answered.map((reply) => [reply.id, reply]));
    return calls.flatMap((call) => refused.get(call) ?? byId.get(call.id) ?? []);
  }

  function refuse(call: RpcRequest): RpcReply[] {
    const filter = call.params?.[0];
    if (call.method !== "eth_getLogs" || options.rangeLimit === undefined || !isRange(filter)) return [];
    const from = Number(filter.fromBlock);
    if (Number(filter.toBlock) - from < options.rangeLimit) return [];
    const words = REFUSALS[counts.rangeTooLarge % REFUSALS.length] as (typeof REFUSALS)[number];
    count("rangeTooLarge");
    return [{ id: call.id, error: words(from, options.rangeLimit) }];
  }

  /** Rewrites answers into those of a node that has not seen the newest blocks; false where nothing names the head. */
  async function setBack(calls: readonly RpcRequest[], replies: RpcReply[]): Promise<boolean> {
    const [current] = await forward([{ id: 0, method: "eth_blockNumber", params: [] }]);
    const head = Math.max(0, Number(current?.result) - 1 - random.below(options.maxBehind ?? 5));
    let changed = false;
    for (const reply of replies) {
      const call = calls.find((each) => each.id === reply.id);
      if (call === undefined || reply.result === undefined) continue;
      const before = reply.result;
      reply.result = await ageResult(call, before, head);
      changed ||= reply.result !== before;
    }
    return changed;
  }

  async function ageResult(call: RpcRequest, result: unknown, head: number): Promise<unknown> {
    if (call.method === "eth_blockNumber") return toHex(head);
    if (call.method === "eth_getLogs" && Array.isArray(result)) {
      const seen = result.filter((log) => Number(log.blockNumber) <= head);
      return seen.length === result.length ? result : seen;
    }
    if (call.method !== "eth_getBlockByNumber") return result;
    if (call.params?.[0] === "latest") {
      const [reply] = await forward([{ id: 0, method: call.method, params: [toHex(head), call.params[1]] }]);
      return reply?.result;
    }
    return Number(call.params?.[0]) > head ? null : result;
  }

  function spoilLogs(calls: readonly RpcRequest[], replies: RpcReply[]): void {
    for (const reply of replies) {
      const isLogs = calls.some((call) => call.id === reply.id && call.method === "eth_getLogs");
      if (!isLogs || !Array.isArray(reply.result) || reply.result.length === 0) continue;
      if (draw("emptyLogs")) {
        count("emptyLogs");
        reply.result = [];
      } else if (draw("duplicateLogs")) {
        count("duplicateLogs");
        reply.result = [...reply.result, random.pick(reply.result)];
      }
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests += 1;
    const body: unknown = JSON.parse(await readBody(request));
    const fault = CONNECTION_FAULTS.find(draw);
    if (fault !== undefined) count(fault);
    if (fault === "hang") return void hanging.add(response);
    if (fault === "reset") return void (request.socket.resetAndDestroy?.() ?? request.socket.destroy());
    if (fault === "badGateway") {
      return send(response, 502, {
        body: "<html><body><h1>502 Bad Gateway</h1></body></html>",
        "content-type": "text/html",
      });
    }
    if (fault === "rateLimit") {
      const error = { code: 429, message: "Too Many Requests" };
      const body = JSON.stringify({ jsonrpc: "2.0", id: null, error });
      return send(response, 429, { body, "retry-after": String(options.retryAfterS ?? 1) });
    }
    const calls = (Array.isArray(body) ? body : [body]) as RpcRequest[];
    const replies = (await answerCalls(calls)).map((reply) => ({ jsonrpc: "2.0", ...reply }));
    const text = JSON.stringify(Array.isArray(body) ? replies : replies[0]);
    send(response, 200, { body: fault === "truncated" ? text.slice(0, Math.floor(text.length / 2)) : text });
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (!response.headersSent)
        send(response, 500, { body: error instanceof Error ? error.message : "failed" });
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    counts: () => ({ ...counts }),
    setFaults(next) {
      faults = next;
    },
    pointTo(next) {
      target = next;
    },
    async close() {
      for (const response of hanging) response.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function isRange(filter: unknown): filter is { fromBlock: string; toBlock: string } {
  if (typeof filter !== "object" || filter === null) return false;
  return (
    "fromBlock" in filter &&
    "toBlock" in filter &&
    /^0x/.test(String(filter.fromBlock)) &&
    /^0x/.test(String(filter.toBlock))
  );
}

function send(
  response: ServerResponse,
  status: number,
  { body, ...headers }: { body: string; [header: string]: string },
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(body);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function toHex(value: number): string {
  return `0x${value.toString(16)}`;
}
