import type { Family } from "../../../services/shared/contract/endpoint.ts";
import { FORMAT_MEDIA_TYPES } from "../../../services/shared/contract/format.ts";
import { HTTP_STATUS } from "../../../services/shared/errors.ts";
import { negotiateFormat } from "../../../services/shared/format/negotiate.ts";
import { hasEntityTags } from "../../../services/shared/http/conditional.ts";
import { bearer, TOKEN_HEADER } from "../../../services/shared/service/service-token.ts";
import { type ClientSpan, startClientSpan } from "../../../services/shared/tracing/http.ts";
import { errorTypeOf, type Tracing } from "../../../services/shared/tracing/tracing.ts";
import type { Clock } from "../../request/clock.ts";
import type { RequestContext } from "../../request/context.ts";
import {
  badResponse,
  DeadlineExceeded,
  RequestCancelled,
  ServiceErrorResponse,
  serviceUnavailable,
} from "../../request/errors.ts";
import { ConnectFailed, ConnectionBroken, InvalidResponse } from "../transport/errors.ts";
import { createPool, type Pool } from "../transport/pool.ts";
import type { ResponseListener, UpstreamResponse } from "../transport/response-receiver.ts";
import { checkResponse } from "./check-response.ts";
import {
  createReplicaSender,
  type SendToReplica,
  type UpstreamAttempt,
  type UpstreamRequest,
} from "./express-proxy.ts";
import type { Upstream, UpstreamGroup } from "./upstream.ts";

export interface UpstreamClientOptions {
  readonly groups: ReadonlyMap<Family, UpstreamGroup>;
  readonly clock: Clock;
  /** From the arrival of a client's request. */
  readonly deadlineMs: number;
  /** For services that demand one. */
  readonly serviceToken?: string | undefined;
  /** Connections to a replica at most; further requests wait for one until their deadline. */
  readonly maxConnections?: number;
  readonly tracing?: Tracing | undefined;
}

export interface UpstreamClient {
  /**
   * Sends a request to the least busy serving replica of its family. The listener is called once, never before `send`
   * has returned; its error is a ServiceErrorResponse, `unavailable` (no replica serves, or its response is broken),
   * DeadlineExceeded or RequestCancelled.
   */
  send(request: UpstreamRequest, listener: ResponseListener): CancelHandle;
  /** Closes the connections to the services. */
  close(): void;
}

export interface CancelHandle {
  /** The client has gone: closes the connection, so that the service stops. */
  cancel(): void;
}

/** A failed connection is tried once more, on another replica if there is one: every request is a read. */
export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  const { groups, deadlineMs, serviceToken, maxConnections = 512 } = options;
  const pools: Pool[] = [];
  const senders = new Map<Upstream, SendToReplica>();
  for (const { members } of groups.values()) {
    for (const upstream of members) {
      const { url } = upstream;
      const headers = serviceToken === undefined ? {} : { [TOKEN_HEADER]: bearer(serviceToken) };
      const pool = createPool({ origin: url, headers, maxConnections });
      pools.push(pool);
      senders.set(upstream, createReplicaSender({ url, pool, maxSilenceMs: deadlineMs }));
    }
  }
  const callOptions = { ...options, senders };

  return {
    send: (request, listener) => new UpstreamCall(request, listener, callOptions),
    close() {
      for (const pool of pools) pool.close();
    },
  };
}

/** The tags of If-None-Match by which a client knows the response; `*` is none. */
export function clientTags({ req }: RequestContext): string | undefined {
  const tags = req.headers["if-none-match"];
  return hasEntityTags(tags) ? tags : undefined;
}

/** The media type that a client prefers to the endpoint's own; undefined = the latter, as for nearly all. */
export function wantedMediaType({ req }: RequestContext): string | undefined {
  const format = negotiateFormat(req.headers.accept);
  return format === "json" ? undefined : FORMAT_MEDIA_TYPES[format];
}

interface CallOptions extends UpstreamClientOptions {
  readonly senders: ReadonlyMap<Upstream, SendToReplica>;
}

interface RunningAttempt {
  readonly attempt: UpstreamAttempt;
  readonly upstream: Upstream;
  readonly startedMs: number;
  /** Where requests are traced. */
  readonly span: ClientSpan | undefined;
}

/** One request to a service with at most two attempts. */
class UpstreamCall implements CancelHandle, ResponseListener {
  readonly #request: UpstreamRequest;
  readonly #listener: ResponseListener;
  readonly #options: CallOptions;
  readonly #group: UpstreamGroup | undefined;
  readonly #deadline: NodeJS.Timeout;
  #current: RunningAttempt | undefined;
  /** The error of the first attempt; there is one more. */
  #firstError: Error | undefined;
  #isOver = false;

  constructor(request: UpstreamRequest, listener: ResponseListener, options: CallOptions) {
    this.#request = request;
    this.#listener = listener;
    this.#options = options;
    const { endpoint, arrivedMs } = request.context;
    const { groups, clock, deadlineMs } = options;
    this.#group = groups.get(endpoint.family);
    this.#deadline = setTimeout(
      () => this.#abort(new DeadlineExceeded(deadlineMs), "failure"),
      Math.max(0, deadlineMs - (clock.monotonicMs() - arrivedMs)),
    );
    this.#sendTo(this.#group?.choose());
  }

  cancel(): void {
    this.#abort(new RequestCancelled("The client has gone"), "unknown");
  }

  #sendTo(upstream: Upstream | undefined): void {
    const { senders, clock, tracing } = this.#options;
    const { context } = this.#request;
    if (upstream === undefined) {
      const error = serviceUnavailable(context.endpoint.family, this.#firstError);
      queueMicrotask(() => this.#end(error));
      return;
    }
    upstream.inFlight += 1;
    upstream.breaker.begin();
    context.fields.upstream = upstream.name;
    const startedMs = clock.monotonicMs();
    const isRetry = this.#firstError !== undefined;
    const span = tracing && beginSpan(tracing, context, { upstream, isRetry });
    const request = span === undefined ? this.#request : { ...this.#request, traceHeaders: span.headers };
    const attempt = (senders.get(upstream) as SendToReplica)(request, this);
    this.#current = { attempt, upstream, startedMs, span };
  }

  /** Called by the attempt. */
  onResponse(response: UpstreamResponse): void {
    const upstream = this.#current?.upstream;
    if (this.#isOver || upstream === undefined) return;
    try {
      checkResponse(response, this.#request);
    } catch (error) {
      this.onError(error as Error);
      return;
    }
    this.#current?.span?.end({ status: response.status });
    this.#group?.reportResponse(upstream);
    this.#endAttempt("success");
    if (!Buffer.isBuffer(response.body)) countUntilClosed(upstream, response.body);
    this.#end(response);
  }

  /** Called by the attempt. */
  onError(error: Error): void {
    const upstream = this.#current?.upstream;
    if (this.#isOver || upstream === undefined) return;
    this.#current?.span?.end(spanEndOf(error));
    // The service's own errors are responses: its health check and its log say what is wrong with it.
    const isResponse = error instanceof ServiceErrorResponse;
    if (isResponse) this.#group?.reportResponse(upstream);
    this.#endAttempt(isResponse ? "success" : "failure");
    const { family } = this.#request.context.endpoint;
    if (error instanceof ConnectFailed || error instanceof ConnectionBroken) this.#retry(upstream, error);
    else this.#end(error instanceof InvalidResponse ? badResponse(family, error) : error);
  }

  #retry(failed: Upstream, error: Error): void {
    if (this.#firstError !== undefined) {
      this.#end(serviceUnavailable(this.#request.context.endpoint.family, error));
      return;
    }
    this.#firstError = error;
    if (error instanceof ConnectFailed) this.#group?.reportFailure(failed, error);
    // A lone replica gets a second chance after a broken connection: it may just have closed an idle one.
    const isThere = error instanceof ConnectionBroken && failed.state !== "not_serving";
    this.#sendTo(this.#group?.choose(failed) ?? (isThere ? failed : undefined));
  }

  #endAttempt(outcome: "success" | "failure" | "unknown"): void {
    const current = this.#current;
    if (current === undefined) return;
    this.#current = undefined;
    current.upstream.inFlight -= 1;
    current.upstream.breaker.end(outcome);
    const passedMs = this.#options.clock.monotonicMs() - current.startedMs;
    this.#request.context.fields.upstreamMs = Math.round(passedMs * 1000) / 1000;
  }

  #abort(error: Error, outcome: "failure" | "unknown"): void {
    if (this.#isOver) return;
    this.#current?.span?.end(spanEndOf(error));
    this.#current?.attempt.abort();
    this.#endAttempt(outcome);
    this.#end(error);
  }

  #end(result: UpstreamResponse | Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#deadline);
    if (result instanceof Error) this.#listener.onError(result);
    else this.#listener.onResponse(result);
  }
}

/** The span has the path without its query, in which clients put whatever they like. */
function beginSpan(
  tracing: Tracing,
  { span, endpoint }: RequestContext,
  { upstream, isRetry }: { readonly upstream: Upstream; readonly isRetry: boolean },
): ClientSpan {
  return startClientSpan(tracing, {
    parent: span,
    method: "GET",
    origin: upstream.url,
    path: endpoint.path,
    attributes: { "chaintables.upstream": upstream.name, ...(isRetry && { "http.request.resend_count": 1 }) },
  });
}

function spanEndOf(error: unknown): Parameters<ClientSpan["end"]>[0] {
  return error instanceof ServiceErrorResponse
    ? { status: HTTP_STATUS[error.code] }
    : { errorType: errorTypeOf(error) };
}

/** A streamed body is work for the replica until it ends. */
function countUntilClosed(upstream: Upstream, body: Exclude<UpstreamResponse["body"], Buffer>): void {
  upstream.inFlight += 1;
  body.once("close", () => {
    upstream.inFlight -= 1;
  });
}
