import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Random } from "../random.ts";
import type { PortalBlocks } from "./block.ts";
import { evmDialect, type PortalDialect } from "./dialect.ts";
import { type ErrorForm, type ForkForm, refusalOf, sendRefusal } from "./errors.ts";
import { type PortalFault, type PortalFaultCounts, type PortalFaultPlan, PortalFaults } from "./faults.ts";
import { Heads } from "./heads.ts";
import type { ToldLie } from "./lies.ts";
import { answerLookup } from "./lookups.ts";
import { BadQuery } from "./query-members.ts";
import { createLimiter, PUBLIC_LIMIT, type RateLimit } from "./rate-limit.ts";
import { type PortalRequest, readBody } from "./request.ts";
import { answerStream, type StreamSettings } from "./stream.ts";

export interface PortalOptions {
  readonly blocks: PortalBlocks;
  /** Of the chain's type; default EVM. */
  readonly dialect?: PortalDialect;
  /** Default "base-mainnet". */
  readonly dataset?: string;
  /** Absent or 0 = a free port. */
  readonly port?: number;
  /** Of all draws; default 1. */
  readonly seed?: number;
  readonly faults?: PortalFaultPlan;
  readonly lies?: readonly ToldLie[];
  /** First block of the dataset; default 0. */
  readonly startBlock?: number;
  /** Blocks that the finalized head is behind the source's own; default 0. */
  readonly finalizedLag?: number;
  /** Blocks above the finalized head that neither the archive nor the real-time source has (204); default 0. */
  readonly gap?: number;
  /** How long a request beyond the head is held; default 50, of a real portal 5,000. */
  readonly waitMs?: number;
  /** Default: the public portal's, 20 requests in 10 s; null = none. */
  readonly rateLimit?: RateLimit | null;
  /** Whether 429, 503 and 529 name seconds to wait; absent = by chance. */
  readonly retryAfter?: boolean;
  /** Default "json". */
  readonly errors?: ErrorForm;
  /** Default: both by chance. */
  readonly forks?: ForkForm;
  /** Blocks of a chunk; default 500. */
  readonly chunkBlocks?: number;
  /** Weight of a chunk; default 20 MiB. */
  readonly chunkWeight?: number;
  /** Chunks of an answer where the request does not say; default no limit. */
  readonly maxChunks?: number;
  /** Share of blocks without a match that have a line all the same; default 0.01. */
  readonly strayHeaders?: number;
  /** Selected fields that a block lacks: null, or left out (default). */
  readonly nullFields?: boolean;
}

export interface Portal {
  /** Of the dataset: what a client is configured with. */
  readonly url: string;
  /** Requests so far, those that failed included. */
  requests(): number;
  /** Bytes of all bodies so far, as they were sent. */
  bytes(): number;
  counts(): PortalFaultCounts;
  setFaults(faults: PortalFaultPlan): void;
  /** The next requests that can meet these faults do, in order. */
  force(...faults: readonly PortalFault[]): void;
  setLies(lies: readonly ToldLie[]): void;
  /** Serves other blocks from now on: a reorg, or the chain as it grew. */
  serve(blocks: PortalBlocks): void;
  close(): Promise<void>;
}

/**
 * An SQD Portal of one dataset on a port of this machine, over any source of blocks, with what real ones do on good and
 * on bad days, by a seeded plan. For tests, benches and trying out a configuration.
 */
export async function startPortal(options: PortalOptions): Promise<Portal> {
  const { dataset = "base-mainnet", seed = 1, rateLimit = PUBLIC_LIMIT } = options;
  const faults = new PortalFaults(seed, options.faults ?? {});
  const mayAsk = createLimiter(rateLimit ?? undefined);
  const heads = new Heads(options.blocks, { lag: options.finalizedLag ?? 0 });
  const settings: StreamSettings = {
    dialect: options.dialect ?? evmDialect,
    startBlock: options.startBlock ?? 0,
    gap: options.gap ?? 0,
    waitMs: options.waitMs ?? 50,
    forks: options.forks ?? { order: "mixed", error: "mixed" },
    chunkBlocks: options.chunkBlocks ?? 500,
    chunkWeight: options.chunkWeight ?? 20 * 1024 * 1024,
    maxChunks: options.maxChunks ?? Number.POSITIVE_INFINITY,
    strayHeaders: options.strayHeaders ?? 0.01,
    nullFields: options.nullFields ?? false,
  };
  const form = options.errors ?? "json";
  let lies = options.lies ?? [];
  let requests = 0;
  let bytes = 0;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests += 1;
    const { pathname: path, searchParams: search } = new URL(request.url ?? "/", "http://portal");
    const body = await readBody(request);
    const random = faults.randomOf(`${request.method} ${request.url} ${body}`);
    const asked: PortalRequest = { method: request.method ?? "GET", path, search, body, random };
    response.setHeader("x-request-id", request.headers["x-request-id"] ?? randomUUID());
    if (!mayAsk(request.socket.remoteAddress ?? "", Date.now())) return refuse(response, "limited", random);
    const fault = faults.draw("request", random);
    if (fault !== undefined) return refuse(response, fault, random);
    await dispatch(response, asked);
  }

  async function dispatch(response: ServerResponse, asked: PortalRequest): Promise<void> {
    const { method, path } = asked;
    const base = `/datasets/${dataset}`;
    const route = path.startsWith(`${base}/`) ? path.slice(base.length) : undefined;
    if (method === "POST" && (route === "/stream" || route === "/finalized-stream")) {
      const kind = route === "/stream" ? "stream" : "finalized-stream";
      return answerStream(response, { ...asked, kind }, { settings, heads, faults, lies });
    }
    const context = { dataset, route, heads, faults, settings };
    if (method === "GET" && (await answerLookup(response, asked, context))) return;
    const other = /^\/datasets\/([^/]+)\//.exec(path)?.[1];
    throw other === undefined || other === dataset
      ? new NotFound(`no ${method} ${path}`)
      : new NotFound(`unknown dataset: ${other}`, "unknown_dataset");
  }

  function refuse(response: ServerResponse, fault: PortalFault, random: Random): void {
    if (fault === "hang") return;
    if (fault === "reset") return void response.socket?.resetAndDestroy();
    if (fault === "badGateway") {
      response.writeHead(502, { "content-type": "text/html" });
      return void response.end("<html><body><h1>502 Bad Gateway</h1></body></html>");
    }
    const hasRetryAfter = options.retryAfter ?? random.next() < 0.5;
    const refusal = refusalOf(fault, { hasRetryAfter });
    if (refusal !== undefined) sendRefusal(response, refusal, { form, random });
  }

  const server = createServer((request, response) => {
    response.once("close", () => {
      bytes += Math.max(0, request.socket.bytesWritten - (sentBefore.get(request.socket) ?? 0));
      sentBefore.set(request.socket, request.socket.bytesWritten);
    });
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) return void response.destroy();
      sendRefusal(response, refusalFor(error), { form, random: faults.randomOf("refusal") });
    });
  });
  const sentBefore = new WeakMap<object, number>();
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/datasets/${dataset}`,
    requests: () => requests,
    bytes: () => bytes,
    counts: () => faults.counts,
    setFaults(plan) {
      faults.plan = plan;
    },
    force: (...list) => faults.force(list),
    setLies(next) {
      lies = next;
    },
    serve: (blocks) => heads.serve(blocks),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

class NotFound extends Error {
  override readonly name = "NotFound";
  readonly code: string;
  constructor(message: string, code = "not_found") {
    super(message);
    this.code = code;
  }
}

function refusalFor(error: unknown) {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof BadQuery) return { status: 400, code: "malformed_request", message };
  if (error instanceof NotFound) return { status: 404, code: error.code, message };
  return { status: 500, code: "internal_error", message };
}
