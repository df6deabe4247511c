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

/** What is known of one request while it is answered; one access log line and one observation come of it. */
export interface Exchange {
  /** Request id: the `session` of an error and the X-Session-Id of every answer. */
  readonly session: string;
  /** Monotonic milliseconds. */
  readonly startedMs: number;
  /** Template of the matched route; paths that clients make up must not become metric labels. */
  route: string;
  /** The failure that was answered, for the log. */
  failure?: unknown;
  /** Told when the answer has been sent or the client is gone; one that waits for it at a time. */
  onClose?: (() => void) | undefined;
  /** Probes are logged at debug level only. */
  isProbe?: boolean;
  /** Its span, where requests are traced. */
  span?: Span | undefined;
  /** More fields for the access log line. */
  readonly fields: Record<string, unknown>;
}

const UNMATCHED = "unmatched";
/** The status logged when the client went away before it had its answer. */
const CLIENT_GONE = 499;
const SESSION = /^[A-Za-z0-9_-]{16,64}$/;

/** A property of the response: a map with weak keys would cost every collection of garbage. */
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
 * Names a request, and on its end writes the access log line and observes the duration. `sentSession` is taken over as
 * its name if it is well-formed; otherwise the name is fresh.
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
 * First middleware of an app: begins the exchange and sends X-Session-Id. `acceptSession` takes over a well-formed
 * X-Session-Id of the request (a service behind the gateway); without it the id is always fresh.
 */
export function trackExchanges(
  options: ExchangeSinks & {
    readonly acceptSession: boolean;
    /** While true, answers close their connection so that clients move to another replica. */
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
  // The response has let go of its socket by now, the request has not.
  const status = statusOf({ res, socket: req.socket }, failure);
  metrics.observeRequest({ route, method, status, seconds: passedMs / 1000 });
  const durationMs = Math.round(passedMs * 1000) / 1000;
  const bytes = Number(res.getHeader("Content-Length") ?? 0);
  const isExpected = failure instanceof ServiceError && failure.isExpected;
  const isQuiet = exchange.isProbe === true && failure === undefined;
  const level = isQuiet ? "debug" : isServerError(status) && !isExpected ? "error" : "info";
  if (failure instanceof ServiceError) fields.code = failure.code;
  else if (failure !== undefined) fields.code = "internal";
  if (exchange.span !== undefined) endTrace(exchange.span, { req, exchange, status });
  const err = failure instanceof ServiceError ? failure.cause : failure;
  const line = { session, method, route, status, durationMs, bytes };
  if (err === undefined) writeAccessLine(log, level, { line, fields });
  else log[level]({ ...line, ...fields, err }, "request");
}

/** What the access line says besides, as far as traces should say it too: words of ours, and nobody's names. */
const TRACED_FIELDS = ["cache", "payment", "upstream"] as const;

function endTrace(span: Span, of: { req: Request; exchange: Exchange; status: number }): void {
  const { req, exchange, status } = of;
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

/** A 503 always tells when to come back; this many seconds where nobody knows better. */
const DEFAULT_RETRY_AFTER_SECONDS = 1;

/** The status that was sent, or what became of an answer that was not sent to its end. */
function statusOf({ res, socket }: { res: Response; socket: Socket }, failure: unknown): number {
  if (res.writableFinished && !isConnectionBroken(socket)) return res.statusCode;
  return failure === undefined ? CLIENT_GONE : toErrorBody(failure, "").status;
}

/** Answers a thrown value in the one error shape, or cuts the connection when an answer has already begun. */
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

/** Sends a whole body with exactly this media type; on HEAD only the head, with the body's length. */
export function sendText(res: Response, answer: { status: number; type: string; text: string }): void {
  const bytes = Buffer.from(answer.text);
  res.statusCode = answer.status;
  res.setHeader("Content-Type", answer.type);
  res.setHeader("Content-Length", bytes.length);
  res.end(bytes);
}

/** Last route of an app: an unknown path or method. */
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
