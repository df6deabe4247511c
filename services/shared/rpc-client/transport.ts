import type { Clock } from "./clock.ts";
import type { Fault } from "./fault.ts";
import { createGate, type Gate } from "./gate.ts";
import type { Post } from "./post.ts";
import { createRedactor } from "./redact.ts";
import { type Classify, parseRetryAfter } from "./words.ts";

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
  /** What an endpoint may lack of the method, where it has the rest of it. Never sent. */
  readonly feature?: string;
  /** Nothing in its answer shows which fork it was read from: the endpoint proves its chain in the same request. Never sent. */
  readonly isUnbound?: boolean;
}

export type RpcReply =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly fault: Fault };

export interface Transport {
  /** Host and port only: the rest of the URL may hold a key. */
  readonly host: string;
  /** HTTP requests in flight; narrowed by rate limits. */
  readonly gate: Gate;
  /**
   * One HTTP request, a JSON-RPC batch if there are several calls; replies in the order of the calls.
   * Never rejects: a failed request gives every call the same fault object.
   */
  send(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcReply[]>;
}

export interface TransportOptions {
  readonly url: string;
  readonly fetch: Post;
  readonly classify: Classify;
  readonly clock: Clock;
  /** Per HTTP request, counted from the moment it leaves. */
  readonly timeoutMs: number;
  /** HTTP requests in flight at once at most. */
  readonly maxParallel: number;
}

/** JSON-RPC over HTTP; connections are kept alive by what is given as fetch. */
export function createTransport(options: TransportOptions): Transport {
  const { clock, timeoutMs, classify } = options;
  const url = new URL(options.url);
  const redact = createRedactor(url);
  const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json" };
  if (url.username !== "" || url.password !== "") {
    // fetch refuses URLs with credentials: they belong in the header.
    headers.authorization = `Basic ${btoa(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`)}`;
    url.username = "";
    url.password = "";
  }
  const gate = createGate(options.maxParallel);
  let nextId = 1;

  async function send(calls: readonly RpcCall[], signal: AbortSignal): Promise<RpcReply[]> {
    const leave = await gate.enter();
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
      const work = exchange(JSON.stringify(bodies.length === 1 ? bodies[0] : bodies), deadline.signal);
      // A body that never ends may ignore the abort in some runtimes: the race keeps the deadline in any case.
      const answer = await Promise.race([work, whenAborted(deadline.signal)]);
      return readReplies(calls, firstId, answer);
    } catch (error) {
      if (timedOut) {
        return failAll(calls, {
          kind: "transient",
          message: `no answer within ${timeoutMs} ms`,
          timedOut: true,
        });
      }
      const message = signal.aborted ? "request abandoned" : redact(describeCause(error));
      return failAll(calls, classify({ method, message: `request failed: ${message}` }));
    } finally {
      settled.abort();
      signal.removeEventListener("abort", forward);
      leave();
    }
  }

  async function exchange(body: string, signal: AbortSignal): Promise<Answer> {
    const response = await options.fetch(url, { method: "POST", headers, body, signal });
    const text = await response.text();
    const retryAfterMs = parseRetryAfter(response.headers.get("retry-after"), clock.wallNow());
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    return { httpStatus: response.status, retryAfterMs, json, text };
  }

  function readReplies(calls: readonly RpcCall[], firstId: number, answer: Answer): RpcReply[] {
    const { httpStatus, retryAfterMs, json } = answer;
    const method = calls[0]?.method;
    if (Array.isArray(json)) {
      const byId = new Map<unknown, unknown>(
        json.map((reply) => [isObject(reply) ? reply.id : undefined, reply]),
      );
      const missing: Fault = { kind: "transient", message: "the batch's answer lacks this call" };
      return calls.map((call, i) => {
        const reply = byId.get(firstId + i) ?? byId.get(String(firstId + i));
        return isObject(reply) ? readReply(call, reply, answer) : { ok: false, fault: missing };
      });
    }
    const isReply = isObject(json) && ("result" in json || "error" in json);
    if (isReply && calls.length === 1 && (httpStatus < 400 || "error" in json)) {
      return [readReply(calls[0] as RpcCall, json, answer)];
    }
    if (isReply && isObject(json.error)) {
      // One error for the whole batch: its size, the rate, the key.
      return failAll(
        calls,
        classify({ method: undefined, httpStatus, retryAfterMs, ...readError(json.error) }),
      );
    }
    if (httpStatus >= 400) {
      const message = isObject(json)
        ? redact(JSON.stringify(json)).slice(0, 300)
        : stripMarkup(redact(answer.text));
      return failAll(calls, classify({ method, httpStatus, retryAfterMs, message }));
    }
    const message =
      json === undefined ? `not JSON (${answer.text.length} characters)` : "not a JSON-RPC answer";
    return failAll(calls, { kind: "transient", message });
  }

  function readReply(call: RpcCall, reply: Record<string, unknown>, answer: Answer): RpcReply {
    const error = reply.error;
    if (error !== undefined && error !== null) {
      const { httpStatus, retryAfterMs } = answer;
      const read = isObject(error) ? readError(error) : { message: redact(String(error)) };
      return {
        ok: false,
        fault: classify({ method: call.method, feature: call.feature, httpStatus, retryAfterMs, ...read }),
      };
    }
    if (!("result" in reply))
      return { ok: false, fault: { kind: "transient", message: "neither result nor error" } };
    return { ok: true, result: reply.result };
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

  return { host: url.host, gate, send };
}

interface Answer {
  readonly httpStatus: number;
  readonly retryAfterMs: number | undefined;
  readonly json: unknown;
  readonly text: string;
}

function failAll(calls: readonly RpcCall[], fault: Fault): RpcReply[] {
  const reply: RpcReply = { ok: false, fault };
  return calls.map(() => reply);
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
