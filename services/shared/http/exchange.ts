import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { Span } from "@opentelemetry/api";
import type { NextFunction, Request, RequestHandler, Response } from "express";
import { isServerError, ServiceError, toErrorBody } from "../errors.ts";
import type { Log } from "../logging/log.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { endServerSpan, startServerSpan } from "../tracing/http.ts";
import type { Tracing } from "../tracing/tracing.ts";
import { writeAccessLine } from "./access-log.ts";
import { isConnectionBroken } from "./delivery-outcome.ts";

/** The record of one HTTP request: source of its access log line, its metrics and its span. */
export interface Exchange {
  /** Request id: the `session` of an error and the X-Session-Id of every answer. */
  readonly session: string;
  /** Monotonic milliseconds. */
  readonly startedMs: number;
  /** Template of the matched route: paths made up by clients must not become metric labels. */
  route: string;
  /** The error that was sent, for the log. */
  failure?: unknown;
  /** Called when the response was sent or the client disconnected; one listener at a time. */
  onClose?: (() => void) | undefined;
  /** Of a stream that its client ends: monotonic milliseconds of its first byte, until which it counts as a request. */
  answeredMs?: number;
  /** Probes are logged at debug level only. */
  isProbe?: boolean;
  /** Its span, if requests are traced. */
  span?: Span | undefined;
  /** More fields for the access log line. */
  readonly fields: Record<string, unknown>;
}

const UNMATCHED = "unmatched";
/** The status logged when the client disconnects before the response. */
const CLIENT_GONE = 499;
const SESSION = /^[A-Za-z0-9_-]{16,64}$/;

/** A property of the response: a WeakMap would cost every garbage collection. */
const EXCHANGE = Symbol("exchange");
interface Tracked {
  [EXCHANGE]?: Exchange;
}

/** The exchange of a request that passed `trackExchanges`. */
export function getExchange(res: Response): Exchange {
  const exchange = (res as Tracked)[EXCHANGE];
  if (exchange === undefined) throw new Error("trackExchanges is not the first middleware of this app");
  return exchange;
}

export interface ExchangeSinks {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing?: Tracing | undefined;
}

/**
 * Assigns the session id; when the response closes, writes the access log line and observes the duration. A well-formed
 * `sentSession` is kept as the id; otherwise the id is new.
 */
export function beginExchange(
  sinks: ExchangeSinks,
  { req, res, sentSession }: { req: Request; res: Response; sentSession?: string | undefined },
): Exchange {
  const session = sentSession !== undefined && SESSION.test(sentSession) ? sentSession : randomUUID();
  const exchange: Exchange = { session, startedMs: performance.now(), route: UNMATCHED, fields: {} };
  (res as Tracked)[EXCHANGE] = exchange;
  if (sinks.tracing !== undefined) beginTrace(exchange, sinks.tracing, req);
  res.on("close", () => {
    exchange.onClose?.();
    report(sinks, { req, res, exchange });
  });
  return exchange;
}

function beginTrace(exchange: Exchange, tracing: Tracing, req: Request): void {
  exchange.span = startServerSpan(tracing, req);
  if (exchange.span !== undefined) exchange.fields.traceId = exchange.span.spanContext().traceId;
}

/**
 * First middleware of an app: begins the exchange and sends X-Session-Id. `acceptSession` keeps a well-formed
 * X-Session-Id of the request (a service behind the gateway); without it the id is always new.
 */
export function trackExchanges(
  options: ExchangeSinks & {
    readonly acceptSession: boolean;
    /** While true, responses close their connection so that clients move to another replica. */
    readonly draining?: () => boolean;
  },
): RequestHandler {
  return (req, res, next) => {
    const sent = options.acceptSession ? req.headers["x-session-id"] : undefined;
    const sentSession = typeof sent === "string" ? sent : undefined;
    const { session } = beginExchange(options, { req, res, sentSession });
    res.setHeader("X-Session-Id", session);
    if (options.draining?.() === true) res.shouldKeepAlive = false;
    next();
  };
}

function report(
  { log, metrics }: ExchangeSinks,
  { req, res, exchange }: { req: Request; res: Response; exchange: Exchange },
): void {
  const { route, failure, fields, session } = exchange;
  const { method } = req;
  const passedMs = performance.now() - exchange.startedMs;
  // The response no longer holds its socket by now, the request still does.
  const isStream = exchange.answeredMs !== undefined && failure === undefined;
  const status = isStream ? res.statusCode : statusOf({ res, socket: req.socket }, failure);
  const answeredMs = (exchange.answeredMs ?? performance.now()) - exchange.startedMs;
  metrics.observeRequest({ route, method, status, seconds: answeredMs / 1000 });
  const durationMs = Math.round(passedMs * 1000) / 1000;
  const bytes = Number(res.getHeader("Content-Length") ?? 0);
  const isExpected = failure instanceof ServiceError && failure.isExpected;
  const isHealthyProbe = exchange.isProbe === true && failure === undefined;
  const level = isHealthyProbe ? "debug" : isServerError(status) && !isExpected ? "error" : "info";
  if (failure instanceof ServiceError) fields.code = failure.code;
  else if (failure !== undefined) fields.code = "internal";
  if (exchange.span !== undefined) endTrace(exchange.span, { req, exchange, status });
  const err = failure instanceof ServiceError ? failure.cause : failure;
  const line = { session, method, route, status, durationMs, bytes };
  if (err === undefined) writeAccessLine(log, level, { line, fields });
  else log[level]({ ...line, ...fields, err }, "request");
}

/** Fields of the access log that spans carry too: fixed words only, no client data. */
const TRACED_FIELDS = ["cache", "payment", "upstream"] as const;

function endTrace(
  span: Span,
  { req, exchange, status }: { req: Request; exchange: Exchange; status: number },
): void {
  const { fields, session, route } = exchange;
  const attributes: Record<string, string> = { "chaintables.session": session };
  for (const name of TRACED_FIELDS) {
    if (typeof fields[name] === "string") attributes[`chaintables.${name}`] = fields[name];
  }
  endServerSpan(span, {
    method: req.method,
    route: route === UNMATCHED ? undefined : route,
    status: status === CLIENT_GONE ? undefined : status,
    httpVersion: req.httpVersion,
    errorType: fields.code as string | undefined,
    attributes,
  });
}

/** A 503 always has Retry-After; this many seconds by default. */
const DEFAULT_RETRY_AFTER_SECONDS = 1;

/** The status that was sent, or the status of a response that was cut off. */
function statusOf({ res, socket }: { res: Response; socket: Socket }, failure: unknown): number {
  if (res.writableFinished && !isConnectionBroken(socket)) return res.statusCode;
  return failure === undefined ? CLIENT_GONE : toErrorBody(failure, "").status;
}

/** Sends a thrown value as an error body, or cuts the connection when a response has already begun. */
export function sendErrorBody(res: Response, error: unknown): void {
  const exchange = getExchange(res);
  exchange.failure = error;
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const { status, body, retryAfterSeconds } = toErrorBody(error, exchange.session);
  const retryAfter = retryAfterSeconds ?? (status === 503 ? DEFAULT_RETRY_AFTER_SECONDS : undefined);
  if (retryAfter !== undefined) res.setHeader("Retry-After", Math.ceil(retryAfter));
  res.setHeader("Cache-Control", "no-store");
  sendText(res, { status, type: "application/json", text: JSON.stringify(body) });
}

/** Sends a whole body with exactly this media type; on HEAD only the headers, with the body's length. */
export function sendText(
  res: Response,
  answer: { status: number; type: string; text: string | Buffer },
): void {
  const bytes = typeof answer.text === "string" ? Buffer.from(answer.text) : answer.text;
  res.statusCode = answer.status;
  res.setHeader("Content-Type", answer.type);
  res.setHeader("Content-Length", bytes.length);
  res.end(bytes);
}

/** Last route of an app: 404 for an unknown path or method. */
export function answerNotFound(): RequestHandler {
  return (req, res) => {
    const known = req.method === "GET" || req.method === "HEAD";
    const what = known ? "path" : "method";
    sendErrorBody(
      res,
      new ServiceError(
        "not_found",
        `No such ${what}: the service answers GET and HEAD of its documented paths.`,
      ),
    );
  };
}

/** Error middleware of an app. */
export function createErrorHandler() {
  return (error: unknown, _req: Request, res: Response, _next: NextFunction): void =>
    sendErrorBody(res, error);
}
