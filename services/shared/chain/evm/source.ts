import { setMaxListeners } from "node:events";
import { createBlockReader } from "./block-reader.ts";
import { type Clock, systemClock } from "./clock.ts";
import { createEndpoint, type SourceEvent, type SourceLog } from "./endpoint.ts";
import { createHeadTracker } from "./head.ts";
import { createPool } from "./pool.ts";
import type { EvmSource, LogRange } from "./port.ts";
import { type Post, post } from "./post.ts";
import { askCall, askFinalized, askHeader, askLogs } from "./questions.ts";
import { createTransport } from "./transport.ts";
import { createVerifyEmpty } from "./verify-empty.ts";
import { createHeadWake } from "./wake.ts";

export type { SourceEvent, SourceLog } from "./endpoint.ts";

export interface SourceOptions {
  /** Per HTTP request; default 30,000. */
  readonly timeoutMs?: number;
  /** Calls a JSON-RPC batch; default 100. An endpoint that refuses gets smaller ones. */
  readonly batchSize?: number;
  /** Whole blocks (with transactions) a batch; default 20. */
  readonly blockBatchSize?: number;
  /** Reads senders from full blocks and logs by eth_getLogs only; default: receipts where they are faster. */
  readonly withoutReceipts?: boolean;
  /** HTTP requests in flight an endpoint; default 8. */
  readonly maxParallel?: number;
  /** After this long an unanswered question becomes an UpstreamError; default 120,000. */
  readonly totalMs?: number;
  /** The same for a block that no endpoint has seen yet; default 20,000. */
  readonly behindTotalMs?: number;
  /** First back-off, doubled each round up to `maxBackoffMs`, with jitter; defaults 250 and 10,000. */
  readonly backoffMs?: number;
  readonly maxBackoffMs?: number;
  /** Consecutive failures that open an endpoint's circuit; default 5. */
  readonly failuresToOpen?: number;
  /** Open time of a circuit, doubled up to `maxOpenMs` while probes fail; defaults 5,000 and 60,000. */
  readonly openMs?: number;
  readonly maxOpenMs?: number;
  /** Cool-down after a rate limit without Retry-After; default 1,000. */
  readonly rateCoolMs?: number;
  /** How long an endpoint on the wrong chain or with a refused key is left alone; default 300,000. */
  readonly asideMs?: number;
  /** No second request before this, however fast the p95 is; default 100. */
  readonly minHedgeMs?: number;
  /** Agreeing empty answers of a lone endpoint without receipts; default 3. */
  readonly agreeingAnswers?: number;
  /** Injected by tests. */
  readonly clock?: Clock;
  readonly fetch?: Post;
  /** Default: the runtime's WebSocket; Node 20 has none and follows the head by the timer alone. */
  readonly socketClass?: typeof WebSocket | undefined;
}

export interface EvmSourceConfig {
  readonly chainId: number;
  /**
   * http(s):// URLs in order of preference; the first is the primary. ws(s):// URLs among them are used as wake-up
   * for new heads only: an endpoint's websocket is not guessed from its http URL.
   */
  readonly urls: readonly string[];
  readonly log?: SourceLog;
  /** Metrics hook; must not throw. */
  readonly onEvent?: (event: SourceEvent) => void;
  readonly options?: SourceOptions;
}

/**
 * Live JSON-RPC endpoints of one chain behind the EvmSource port. Does no I/O before the first question.
 * Throws TypeError for a list without an http URL or with a malformed one (the URL itself is not quoted).
 */
export function createEvmSource(config: EvmSourceConfig): EvmSource {
  const { chainId, options = {}, log = () => {}, onEvent = () => {} } = config;
  const { http, ws } = sortUrls(config.urls, chainId);
  const clock = options.clock ?? systemClock;
  const closing = new AbortController();
  const lifetime = closing.signal;
  // Every request in flight listens for the end; Node takes more than ten for a leak.
  setMaxListeners(0, lifetime);
  const batchSize = options.batchSize ?? 100;

  const endpoints = http.map((url) =>
    createEndpoint({
      chainId,
      clock,
      batchSize,
      lifetime,
      log,
      onEvent,
      transport: createTransport({
        url,
        clock,
        fetch: options.fetch ?? post,
        timeoutMs: options.timeoutMs ?? 30_000,
        maxParallel: options.maxParallel ?? 8,
      }),
      failuresToOpen: options.failuresToOpen ?? 5,
      openMs: options.openMs ?? 5_000,
      maxOpenMs: options.maxOpenMs ?? 60_000,
      rateCoolMs: options.rateCoolMs ?? 1_000,
      asideMs: options.asideMs ?? 300_000,
    }),
  );
  const policy = {
    chainId,
    clock,
    lifetime,
    onEvent,
    backoffMs: options.backoffMs ?? 250,
    maxBackoffMs: options.maxBackoffMs ?? 10_000,
    totalMs: options.totalMs ?? 120_000,
    behindTotalMs: options.behindTotalMs ?? 20_000,
    minHedgeMs: options.minHedgeMs ?? 100,
  };
  const pool = createPool({ ...policy, endpoints });
  const voters = endpoints.map((endpoint) => ({
    pool: createPool({ ...policy, endpoints: [endpoint], totalMs: policy.behindTotalMs }),
    isUsable: () => endpoint.health.state().kind === "ready",
  }));
  const heads = createHeadTracker({ pool, clock, log, chainId });
  const wake = createHeadWake({
    urls: ws,
    clock,
    log,
    socketClass: "socketClass" in options ? options.socketClass : globalThis.WebSocket,
  });
  const verifyEmpty = createVerifyEmpty({
    pool,
    voters,
    clock,
    lifetime,
    agreeingAnswers: options.agreeingAnswers ?? 3,
    pauseMs: policy.backoffMs,
  });

  const maxBatch = Math.min(options.blockBatchSize ?? 20, batchSize);
  const { readBlocks, readWithLogs } = createBlockReader({
    pool,
    clock,
    maxBatch,
    withoutReceipts: options.withoutReceipts ?? false,
  });

  return {
    chainId,
    head: heads.head,
    async finalizedNumber() {
      const [number] = await pool.ask([askFinalized()], "eth_getBlockByNumber finalized");
      return number ?? null;
    },
    async headers(numbers) {
      const headers = await pool.ask(numbers.map(askHeader), `eth_getBlockByNumber ${describe(numbers)}`);
      for (const header of headers) if (header !== null) heads.remember(header);
      return headers;
    },
    async blocks(numbers) {
      const blocks = await readBlocks(numbers, describe(numbers));
      for (const block of blocks) heads.remember(block);
      return blocks;
    },
    async blocksWithLogs(numbers, filter) {
      const blocks = await readWithLogs(numbers, { filter, about: describe(numbers) });
      for (const block of blocks ?? []) heads.remember(block);
      return blocks;
    },
    async logs(range: LogRange, filter) {
      const about = `eth_getLogs blocks ${range.fromBlock}-${range.toBlock}`;
      const [logs] = await pool.ask([askLogs(range, filter)], about);
      return logs ?? [];
    },
    verifyEmpty,
    call: (calls) => pool.ask(calls.map(askCall), `eth_call at ${describe(calls.map((call) => call.block))}`),
    waitForHead: (timeoutMs, signal) => wake.wait(timeoutMs, signal),
    async close() {
      closing.abort();
      wake.close();
    },
  };
}

function sortUrls(urls: readonly string[], chainId: number): { http: string[]; ws: string[] } {
  const http: string[] = [];
  const ws: string[] = [];
  urls.forEach((text, i) => {
    const protocol = URL.canParse(text) ? new URL(text).protocol : "";
    if (protocol === "http:" || protocol === "https:") http.push(text);
    else if (protocol === "ws:" || protocol === "wss:") ws.push(text);
    else
      throw new TypeError(`chain ${chainId}: RPC URL number ${i + 1} is not an http, https, ws or wss URL`);
  });
  if (http.length === 0)
    throw new TypeError(`chain ${chainId}: at least one http or https RPC URL is needed`);
  return { http, ws };
}

function describe(numbers: readonly number[]): string {
  if (numbers.length <= 1) return `block ${numbers[0] ?? "none"}`;
  let [low, high] = [Number.POSITIVE_INFINITY, 0];
  for (const number of numbers) [low, high] = [Math.min(low, number), Math.max(high, number)];
  return `blocks ${low}-${high}`;
}
