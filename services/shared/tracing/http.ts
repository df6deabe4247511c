/**
 * Spans of HTTP requests, by OpenTelemetry's semantic conventions. Spans hold routes, states and fixed words: no query (so
 * `url.full` differs from the convention), no header, no unknown path, no error message, no key, no client address.
 */
import type { IncomingMessage } from "node:http";
import { type Attributes, type Span, SpanKind } from "@opentelemetry/api";
import { isServerError } from "../errors.ts";
import { markSpanFailed, type Tracing } from "./tracing.ts";

/** Probes and scrapes. */
const UNTRACED = new Set(["/livez", "/readyz", "/metrics"]);

/** Methods that a trace may contain; any other text may be made up by a client. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]);

/** Starts the span of an incoming request, as a child of the caller's span if its headers name one. */
export function startServerSpan(
  tracing: Tracing,
  { headers, method = "", url = "" }: Pick<IncomingMessage, "headers" | "method" | "url">,
): Span | undefined {
  if (UNTRACED.has(url)) return undefined;
  const { traceparent, tracestate } = headers as Readonly<Record<string, string | undefined>>;
  return tracing.startSpan(METHODS.has(method) ? method : "HTTP", {
    kind: SpanKind.SERVER,
    parent: { headers: { traceparent, tracestate } },
  });
}

export interface EndedRequest {
  readonly method: string;
  /** Template of the route; undefined if none matched: then the span has no path. */
  readonly route: string | undefined;
  /** Undefined if the client disconnected before the response. */
  readonly status: number | undefined;
  readonly httpVersion: string;
  /** A fixed word for the error. */
  readonly errorType?: string | undefined;
  readonly attributes?: Attributes;
}

/**
 * Ends the span of an incoming request, without query and headers: clients put keys there. Our routes have no parameters
 * in their paths, so that the path is the route's template.
 */
export function endServerSpan(span: Span, ended: EndedRequest): void {
  if (span.isRecording()) {
    const { method, route, status, httpVersion, errorType } = ended;
    const known = METHODS.has(method) ? method : "_OTHER";
    if (route !== undefined) span.updateName(`${known === "_OTHER" ? "HTTP" : known} ${route}`);
    span.setAttributes({
      "http.request.method": known,
      "url.scheme": "http",
      "network.protocol.name": "http",
      "network.protocol.version": httpVersion,
      ...(route !== undefined && { "http.route": route, "url.path": route }),
      ...(status !== undefined && { "http.response.status_code": status }),
      ...ended.attributes,
    });
    if (status === undefined) span.setAttribute("error.type", "client_gone");
    // A client error is no failure of the server.
    else if (isServerError(status)) markSpanFailed(span, errorType ?? String(status));
    else if (errorType !== undefined) span.setAttribute("error.type", errorType);
  }
  span.end();
}

/** The span of an outgoing request: its propagation headers, and its end (idempotent). */
export interface ClientSpan {
  readonly headers: Readonly<Record<string, string>>;
  end(outcome: { readonly status: number } | { readonly errorType: string }): void;
}

/** Starts the span of a request to another process as a child of `parent`. `path` must not contain secrets. */
export function startClientSpan(
  tracing: Tracing,
  request: {
    readonly parent: Span | undefined;
    readonly method: string;
    readonly origin: string;
    readonly path: string;
    readonly attributes?: Attributes;
  },
): ClientSpan {
  const { method, origin, path } = request;
  const span = tracing.startSpan(`${method} ${path}`, {
    kind: SpanKind.CLIENT,
    ...(request.parent && { parent: { span: request.parent } }),
  });
  if (span.isRecording()) {
    const { protocol, hostname, port } = new URL(origin);
    span.setAttributes({
      "http.request.method": method,
      "url.full": `${origin}${path}`,
      "url.template": path,
      "server.address": hostname,
      "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
      ...request.attributes,
    });
  }
  let isEnded = false;
  return {
    headers: tracing.propagationHeaders(span),
    end(outcome) {
      if (isEnded) return;
      isEnded = true;
      if ("errorType" in outcome) markSpanFailed(span, outcome.errorType);
      else {
        span.setAttribute("http.response.status_code", outcome.status);
        // For the client side a 4xx is a failure too.
        if (outcome.status >= 400) markSpanFailed(span, String(outcome.status));
      }
      span.end();
    },
  };
}
