/** Spans of HTTP requests, by OpenTelemetry's semantic conventions. */
import type { IncomingMessage } from "node:http";
import { type Attributes, type Span, SpanKind } from "@opentelemetry/api";
import { isServerError } from "../errors.ts";
import { markSpanFailed, type Tracing } from "./tracing.ts";

/** Asked for all the time by machines, and never of interest. */
const UNTRACED = new Set(["/livez", "/readyz", "/metrics"]);

/** Methods that may stand in a trace: others are whatever a client made up. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]);

/** Begins the span of a request that came in, below the caller's if the request names one. */
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
  /** Template of the route; undefined where none matched: then nothing of the path is told. */
  readonly route: string | undefined;
  /** Undefined where the client went away before it had its answer. */
  readonly status: number | undefined;
  readonly httpVersion: string;
  /** A word of ours for what went wrong. */
  readonly errorType?: string | undefined;
  readonly attributes?: Attributes;
}

/**
 * Ends the span of a request that came in. Queries and headers are not told: clients put keys there. Routes of ours have
 * no parameters in their paths, so that the path is the route's template.
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
    // What a client did wrong is no failure of the server.
    else if (isServerError(status)) markSpanFailed(span, errorType ?? String(status));
    else if (errorType !== undefined) span.setAttribute("error.type", errorType);
  }
  span.end();
}

/** A request that goes out: its headers, and its end, which may be told twice. */
export interface ClientSpan {
  readonly headers: Readonly<Record<string, string>>;
  end(outcome: { readonly status: number } | { readonly errorType: string }): void;
}

/** Begins the span of a request to another process, below `parent`. `path` must not hold what nobody may see. */
export function startClientSpan(
  tracing: Tracing,
  of: {
    readonly parent: Span | undefined;
    readonly method: string;
    readonly origin: string;
    readonly path: string;
    readonly attributes?: Attributes;
  },
): ClientSpan {
  const { method, origin, path } = of;
  const span = tracing.startSpan(`${method} ${path}`, {
    kind: SpanKind.CLIENT,
    ...(of.parent && { parent: { span: of.parent } }),
  });
  if (span.isRecording()) {
    const { protocol, hostname, port } = new URL(origin);
    span.setAttributes({
      "http.request.method": method,
      "url.full": `${origin}${path}`,
      "url.template": path,
      "server.address": hostname,
      "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
      ...of.attributes,
    });
  }
  let isOver = false;
  return {
    headers: tracing.propagationHeaders(span),
    end(outcome) {
      if (isOver) return;
      isOver = true;
      if ("errorType" in outcome) markSpanFailed(span, outcome.errorType);
      else {
        span.setAttribute("http.response.status_code", outcome.status);
        // For who asks, an answer of 400 is a failure too.
        if (outcome.status >= 400) markSpanFailed(span, String(outcome.status));
      }
      span.end();
    },
  };
}
