import { Buffer } from "node:buffer";
import type { Clock } from "./clock.ts";
import { type ConcurrencyLimit, createConcurrencyLimit } from "./concurrency-limit.ts";
import type { Fault } from "./fault.ts";
import { type Classify, parseRetryAfter } from "./fault-rules.ts";
import type { HttpPost } from "./http-post.ts";
import { convertList, parseWithList, type ResultList } from "./json-list.ts";
import { createRedactor } from "./redact.ts";

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** A part of the method that an endpoint may not support. Never sent. */
  readonly feature?: string;
  /** The response does not show its fork: the batch also carries a call of the ConsistencyCheck. Never sent. */
  readonly needsConsistencyCheck?: boolean;
  /** A long list in the result, of which little is needed. Never sent. */
  readonly list?: ResultList;
}

export type RpcResponse =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly fault: Fault };

export interface Transport {
  /** Host and port only: the rest of the URL may hold a key. */
  readonly host: string;
  /** Limits HTTP requests in flight; rate limits decrease it. */
  readonly concurrency: ConcurrencyLimit;
  /**
   * One HTTP request, a JSON-RPC batch if there are several calls; responses in the order of the calls.
   * Never rejects: a failed request gives every call the same fault object.
   */
  send(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcResponse[]>;
}

export interface TransportOptions {
  readonly url: string;
  readonly fetch: HttpPost;
  readonly classify: Classify;
  readonly clock: Clock;
  /** Per HTTP request, from the moment it is sent. */
  readonly timeoutMs: number;
  /** Maximum of HTTP requests in flight. */
  readonly maxParallel: number;
}

/** JSON-RPC over HTTP; `fetch` keeps connections alive. */
export function createTransport(options: TransportOptions): Transport {
  const { clock, timeoutMs, classify } = options;
  const url = new URL(options.url);
  const redact = createRedactor(url);
  const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json" };
  if (url.username !== "" || url.password !== "") {
    // fetch rejects URLs with credentials: they go into the header.
    headers.authorization = `Basic ${btoa(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`)}`;
    url.username = "";
    url.password = "";
  }
  const concurrency = createConcurrencyLimit(options.maxParallel);
  let nextId = 1;

  async function send(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcResponse[]> {
    const release = await concurrency.acquire();
    const method = calls[0]?.method;
    const deadline = new AbortController();
    const settled = new AbortController();
    const forward = () => deadline.abort();
    let timedOut = false;
    try {
      if (signal.aborted) return failAll(calls, { kind: "transient", message: "request abandoned" });
      signal.addEventListener("abort", forward, { once: true });
      void clock.sleep(timeoutMs, settled.signal).then(() => {
        if (settled.signal.aborted) return;
        timedOut = true;
        deadline.abort();
      });
      const firstId = nextId;
      nextId += calls.length;
      const bodies = calls.map((call, i) => ({
        jsonrpc: "2.0",
        id: firstId + i,
        method: call.method,
        params: call.params,
      }));
      const exchanged = exchange(
        calls,
        JSON.stringify(bodies.length === 1 ? bodies[0] : bodies),
        deadline.signal,
      );
      // In some runtimes a body that never ends ignores the abort: the race enforces the deadline.
      const reply = await Promise.race([exchanged, whenAborted(deadline.signal)]);
      return readResponses(calls, firstId, reply);
    } catch (error) {
      if (timedOut) {
        return failAll(calls, {
          kind: "transient",
          message: `no response within ${timeoutMs} ms`,
          timedOut: true,
        });
      }
      const message = signal.aborted ? "request abandoned" : redact(describeCause(error));
      return failAll(calls, classify({ method, message: `request failed: ${message}` }));
    } finally {
      settled.abort();
      signal.removeEventListener("abort", forward);
      release();
    }
  }

  async function exchange(calls: readonly RpcCall[], body: string, signal: AbortSignal): Promise<HttpReply> {
    const response = await options.fetch(url, { method: "POST", headers, body, signal });
    const retryAfterMs = parseRetryAfter(response.headers.get("retry-after"), clock.wallNow());
    const list = calls.length === 1 ? calls[0]?.list : undefined;
    const parts = list === undefined ? undefined : await response.parts?.();
    const text = parts === undefined ? await response.text() : undefined;
    const reply = { httpStatus: response.status, retryAfterMs };
    const readText = () => text ?? Buffer.concat(parts ?? []).toString("utf8");
    try {
      if (list === undefined || parts === undefined) {
        const json: unknown = JSON.parse(readText());
        return { ...reply, json: list === undefined ? json : convertList(json, list), readText };
      }
      return { ...reply, json: parseWithList(parts, list), readText };
    } catch {
      return { ...reply, json: undefined, readText };
    }
  }

  function readResponses(calls: readonly RpcCall[], firstId: number, reply: HttpReply): RpcResponse[] {
    const { httpStatus, retryAfterMs, json } = reply;
    const method = calls[0]?.method;
    if (Array.isArray(json)) {
      const byId = new Map<unknown, unknown>(
        json.map((response) => [isObject(response) ? response.id : undefined, response]),
      );
      const missing: Fault = { kind: "transient", message: "the batch response lacks this call" };
      return calls.map((call, i) => {
        const response = byId.get(firstId + i) ?? byId.get(String(firstId + i));
        if (!isObject(response)) return { ok: false, fault: missing };
        if (call.list !== undefined) convertList(response, call.list);
        return readResponse(call, response, reply);
      });
    }
    const isResponse = isObject(json) && ("result" in json || "error" in json);
    if (isResponse && calls.length === 1 && (httpStatus < 400 || "error" in json)) {
      return [readResponse(calls[0] as RpcCall, json, reply)];
    }
    if (isResponse && isObject(json.error)) {
      // One error for the whole batch: its size, the rate, the key.
      return failAll(
        calls,
        classify({ method: undefined, httpStatus, retryAfterMs, ...readError(json.error) }),
      );
    }
    if (httpStatus >= 400) {
      const message = isObject(json)
        ? redact(JSON.stringify(json)).slice(0, 300)
        : stripMarkup(redact(reply.readText()));
      return failAll(calls, classify({ method, httpStatus, retryAfterMs, message }));
    }
    const message =
      json === undefined ? `not JSON (${reply.readText().length} characters)` : "not a JSON-RPC response";
    return failAll(calls, { kind: "transient", message });
  }

  function readResponse(call: RpcCall, response: Record<string, unknown>, reply: HttpReply): RpcResponse {
    const error = response.error;
    if (error !== undefined && error !== null) {
      const { httpStatus, retryAfterMs } = reply;
      const read = isObject(error) ? readError(error) : { message: redact(String(error)) };
      return {
        ok: false,
        fault: classify({ method: call.method, feature: call.feature, httpStatus, retryAfterMs, ...read }),
      };
    }
    if (!("result" in response))
      return { ok: false, fault: { kind: "transient", message: "neither result nor error" } };
    return { ok: true, result: response.result };
  }

  function readError(error: Record<string, unknown>) {
    const code = error.code;
    return {
      code: typeof code === "number" || typeof code === "string" ? code : undefined,
      message:
        typeof error.message === "string"
          ? redact(error.message)
          : redact(JSON.stringify(error)).slice(0, 300),
      data: typeof error.data === "string" ? redact(error.data) : error.data,
    };
  }

  return { host: url.host, concurrency, send };
}

interface HttpReply {
  readonly httpStatus: number;
  readonly retryAfterMs: number | undefined;
  /** Undefined for what is not JSON. */
  readonly json: unknown;
  readText(): string;
}

function failAll(calls: readonly RpcCall[], fault: Fault): RpcResponse[] {
  const response: RpcResponse = { ok: false, fault };
  return calls.map(() => response);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** undici hides the reason ("fetch failed") in the cause. */
function describeCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : undefined;
  const code = cause !== undefined && "code" in cause ? `${String(cause.code)} ` : "";
  return cause === undefined ? error.message : `${error.message}: ${code}${cause.message}`;
}

function stripMarkup(text: string): string {
  return text
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 200);
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(new Error("aborted"));
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
}
