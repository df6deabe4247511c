import { setMaxListeners } from "node:events";
import { type Clock, systemClock } from "./endpoint/clock.ts";
import {
  type ConsistencyCheck,
  createEndpoint,
  type IdentityCheck,
  type SourceEvent,
  type SourceLog,
} from "./endpoint/endpoint.ts";
import type { Classify } from "./endpoint/fault-rules.ts";
import { type HttpPost, post } from "./endpoint/http-post.ts";
import { createTransport, type RpcCall } from "./endpoint/transport.ts";
import { createHeadSubscription, type HeadSubscription } from "./head-subscription.ts";
import { createPool, type Pool } from "./pool.ts";

export interface RpcOptions {
  /** Per HTTP request; default 30,000. */
  readonly timeoutMs?: number;
  /** Calls a JSON-RPC batch; default 100. An endpoint that refuses gets smaller ones. */
  readonly batchSize?: number;
  /** HTTP requests in flight an endpoint; default 8. */
  readonly maxParallel?: number;
  /** After this long a request without a response becomes an error; default 120,000. */
  readonly totalMs?: number;
  /** The same for a block that no endpoint has yet; default 20,000. */
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
  /** How long an endpoint of another chain or with a rejected key is set aside; default 300,000. */
  readonly asideMs?: number;
  /** How often an endpoint in use must agree with the final block; default 10,000. */
  readonly consistencyCheckMs?: number;
  /** No second request before this, however fast the p95 is; default 100. */
  readonly minHedgeMs?: number;
  /** Injected by tests. */
  readonly clock?: Clock;
  readonly fetch?: HttpPost;
  /** Default: the runtime's WebSocket; Node 20 has none and polls the head. */
  readonly socketClass?: typeof WebSocket | undefined;
}

export interface RpcConfig {
  /** Names the chain in errors ("chain 8453"), and in log lines. */
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /**
   * http(s):// URLs in order of preference; the first is the primary. ws(s):// URLs only subscribe to new heads: an
   * endpoint's WebSocket URL is not derived from its http URL.
   */
  readonly urls: readonly string[];
  readonly createError: (message: string) => Error;
  readonly classify: Classify;
  readonly identityCheck: IdentityCheck;
  /** See ConsistencyCheck. */
  readonly consistencyCheck?: ConsistencyCheck;
  readonly optionalMethods: readonly string[];
  /** The subscription to new heads, and the method of its notifications. */
  readonly subscribe: RpcCall;
  readonly notification: string;
  readonly log: SourceLog;
  readonly onEvent: (event: SourceEvent) => void;
  readonly options: RpcOptions;
}

/** A single endpoint: for a quorum, responses are counted by endpoint. */
export interface Voter {
  readonly host: string;
  readonly pool: Pool;
  isUsable(): boolean;
}

export interface RpcClient {
  readonly pool: Pool;
  readonly voters: readonly Voter[];
  readonly headSubscription: HeadSubscription;
  readonly clock: Clock;
  /** Aborts at `close`. */
  readonly lifetime: AbortSignal;
  readonly batchSize: number;
  readonly backoffMs: number;
  readonly behindTotalMs: number;
  /** Checks every endpoint now; does not wait long for those that do not respond. */
  recheck(): Promise<void>;
  /** How each endpoint contradicts the consistency check; empty while at least one does not. */
  contradictions(): readonly { readonly host: string; readonly reason: string }[];
  close(): void;
}

/** A hanging node must not delay the recovery. */
const RECHECK_MS = 2_000;

/**
 * Several JSON-RPC endpoints of one chain. Does no I/O before the first request. Throws TypeError for a list without an
 * http URL or with a malformed one (the URL itself is not quoted).
 */
export function createRpcClient(config: RpcConfig): RpcClient {
  const { name, fields, log, onEvent, options } = config;
  const { http, ws } = sortUrls(config.urls, name);
  const clock = options.clock ?? systemClock;
  const closing = new AbortController();
  const lifetime = closing.signal;
  // Every request in flight adds a listener; Node warns of a leak above ten.
  setMaxListeners(0, lifetime);
  const batchSize = options.batchSize ?? 100;

  const endpoints = http.map((url) =>
    createEndpoint({
      fields,
      clock,
      batchSize,
      lifetime,
      log,
      onEvent,
      identityCheck: config.identityCheck,
      consistencyCheck: config.consistencyCheck,
      consistencyCheckMs: options.consistencyCheckMs ?? 10_000,
      optionalMethods: config.optionalMethods,
      transport: createTransport({
        url,
        clock,
        fetch: options.fetch ?? post,
        classify: config.classify,
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
    name,
    createError: config.createError,
    clock,
    lifetime,
    onEvent,
    backoffMs: options.backoffMs ?? 250,
    maxBackoffMs: options.maxBackoffMs ?? 10_000,
    totalMs: options.totalMs ?? 120_000,
    behindTotalMs: options.behindTotalMs ?? 20_000,
    minHedgeMs: options.minHedgeMs ?? 100,
  };
  const headSubscription = createHeadSubscription({
    subscribe: config.subscribe,
    notification: config.notification,
    urls: ws,
    clock,
    log,
    socketClass: "socketClass" in options ? options.socketClass : globalThis.WebSocket,
  });

  return {
    pool: createPool({ ...policy, endpoints }),
    voters: endpoints.map((endpoint) => ({
      host: endpoint.host,
      pool: createPool({ ...policy, endpoints: [endpoint], totalMs: policy.behindTotalMs }),
      isUsable: () => endpoint.health.state().kind === "ready",
    })),
    headSubscription,
    clock,
    lifetime,
    batchSize,
    backoffMs: policy.backoffMs,
    behindTotalMs: policy.behindTotalMs,
    async recheck() {
      const done = new AbortController();
      const checks = Promise.all(endpoints.map((endpoint) => endpoint.probe()));
      await Promise.race([checks, clock.sleep(RECHECK_MS, AbortSignal.any([lifetime, done.signal]))]);
      done.abort();
    },
    contradictions() {
      const contradicting = endpoints.flatMap((endpoint) => {
        const reason = endpoint.contradiction();
        return reason === undefined ? [] : [{ host: endpoint.host, reason }];
      });
      return contradicting.length < endpoints.length ? [] : contradicting;
    },
    close() {
      closing.abort();
      headSubscription.close();
    },
  };
}

function sortUrls(urls: readonly string[], name: string): { http: string[]; ws: string[] } {
  const http: string[] = [];
  const ws: string[] = [];
  urls.forEach((text, i) => {
    const protocol = URL.canParse(text) ? new URL(text).protocol : "";
    if (protocol === "http:" || protocol === "https:") http.push(text);
    else if (protocol === "ws:" || protocol === "wss:") ws.push(text);
    else throw new TypeError(`${name}: RPC URL number ${i + 1} is not an http, https, ws or wss URL`);
  });
  if (http.length === 0) throw new TypeError(`${name}: at least one http or https RPC URL is needed`);
  return { http, ws };
}
