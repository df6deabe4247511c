import express, { type Express, type Request, type RequestHandler, type Response } from "express";
import { type AsOf, isAsOf } from "../contract/as-of.ts";
import type { DataVersion, Endpoint, ParamsOf, TableResult } from "../contract/endpoint.ts";
import { EXAMPLES_PATH, type Examples } from "../contract/examples.ts";
import { mediaTypeOf } from "../contract/format.ts";
import { parseQuery } from "../contract/parse.ts";
import { ServiceError } from "../errors.ts";
import { negotiateFormat } from "../format/negotiate.ts";
import { entityTag, hasEntityTags, matchesTag } from "../http/conditional.ts";
import { ClientDisconnected, withDeadline } from "../http/deadline.ts";
import {
  answerNotFound,
  createErrorHandler,
  getExchange,
  sendErrorBody,
  sendText,
  trackExchanges,
} from "../http/exchange.ts";
import { acceptRequest, rejectMalformedRequests } from "../http/request-checks.ts";
import type { Log } from "../logging/log.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { isStoreAway } from "../storage/away.ts";
import { runWithSpan } from "../tracing/active.ts";
import { type Tracing, withSpan } from "../tracing/tracing.ts";
import { type AnyHandler, type HandlerTable, notFoundError } from "./handlers.ts";
import { pagingHeaders } from "./paging.ts";
import { createProbes, type Readiness } from "./probes.ts";
import { makeBody, sendBody } from "./send-table.ts";
import { TOKEN_HEADER, type TokenCheck } from "./service-token.ts";

export interface ServiceAppOptions {
  readonly endpoints: readonly Endpoint[];
  readonly handlers: HandlerTable;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing?: Tracing | undefined;
  /** Checks the service token; absent = every request is accepted. */
  readonly isAuthorized?: TokenCheck | undefined;
  /** Milliseconds until 408. */
  readonly deadlineMs: number;
  /** For /readyz. */
  readonly readiness: () => Promise<Readiness>;
  readonly draining?: () => boolean;
  /** Example values from this service's data, for the documents of gateways. */
  readonly examples?: (() => Promise<Examples>) | undefined;
  /**
   * The version a response would have now, if that is cheaper than the response: answers If-None-Match with 304 without
   * running the handler. Must equal the version that the handler would report.
   */
  readonly dataVersion?: (endpoint: Endpoint, params: ParamsOf<Endpoint>) => DataVersion | undefined;
  /**
   * The 503 for an endpoint whose table was never indexed; undefined if the table has data or needs none. Called only for
   * results without a block: rows without a version, and 404s (`isAbsent`).
   */
  readonly missingDataError?: (
    endpoint: Endpoint,
    at: { readonly params: ParamsOf<Endpoint>; readonly isAbsent: boolean },
  ) => Promise<ServiceError | undefined>;
  /**
   * max-age of a successful response in seconds: about one block of the chain that the parameters name. 1 by default.
   */
  readonly maxAgeSeconds?: (endpoint: Endpoint, params: ParamsOf<Endpoint>) => number;
}

const DEFAULT_MAX_AGE_SECONDS = 1;
/** Of a response about a final block. Not for ever: later versions of this software may know more of it. */
const FINAL_MAX_AGE_SECONDS = 86_400;

/**
 * The HTTP face of a service: every declared endpoint at its exact path (GET and HEAD), /livez, /readyz and /metrics.
 * Hand it to createHttpServer. Throws when a handler's path is not declared.
 */
export function createServiceApp(options: ServiceAppOptions): Express {
  const paths = new Set(options.endpoints.map((endpoint) => endpoint.path));
  for (const path of Object.keys(options.handlers)) {
    if (!paths.has(path)) throw new Error(`Cannot serve ${path}: no endpoint declares it`);
  }
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.enable("strict routing");
  const { log, metrics, tracing, readiness } = options;
  app.use((req, res, next) => {
    if (acceptRequest(req, res)) next();
  });
  app.use(
    trackExchanges({
      log,
      metrics,
      tracing,
      acceptSession: true,
      ...(options.draining && { draining: options.draining }),
    }),
  );
  app.use(rejectMalformedRequests());
  const isAuthorized = options.isAuthorized && authorizeRequest(options.isAuthorized);
  if (isAuthorized !== undefined) app.use(requireServiceToken(isAuthorized));
  for (const endpoint of options.endpoints) {
    app.get(endpoint.path, serveEndpoint(endpoint, options.handlers[endpoint.path], options));
  }
  if (options.examples !== undefined) app.get(EXAMPLES_PATH, serveExamples(options.examples));
  app.use(createProbes({ metrics, readiness, mayShowDetails: isAuthorized }));
  app.use(answerNotFound());
  app.use(createErrorHandler());
  return app;
}

/** Orchestrators' probes cannot read a Secret: these paths need no token and show no more than a status. */
const OPEN_PATHS: ReadonlySet<string> = new Set(["/livez", "/readyz"]);

function authorizeRequest(isAuthorized: TokenCheck) {
  return (req: Request): boolean => isAuthorized(req.headers[TOKEN_HEADER]);
}

/**
 * 401 without the service token. WWW-Authenticate on the response of an open path (RFC 9110 allows it on any) lets a
 * gateway's health check notice, before the first client's request, that its requests would be rejected. The token
 * travels in `authorization` and no header of its own, since proxies, scrapers and log filters know that one.
 */
function requireServiceToken(isAuthorized: (req: Request) => boolean): RequestHandler {
  return (req, res, next) => {
    if (isAuthorized(req)) return next();
    res.setHeader("WWW-Authenticate", "Bearer");
    if (OPEN_PATHS.has(req.path)) return next();
    throw new ServiceError(
      "unauthorized",
      "This is an internal port: the service token is missing or wrong. Clients send their requests to the gateway.",
    );
  };
}

function serveExamples(find: () => Promise<Examples>): RequestHandler {
  return async (_req, res) => {
    const exchange = getExchange(res);
    exchange.route = EXAMPLES_PATH;
    exchange.isProbe = true;
    const text = JSON.stringify(await find());
    res.setHeader("Cache-Control", "no-store");
    sendText(res, { status: 200, type: "application/json", text });
  };
}

function serveEndpoint(
  endpoint: Endpoint,
  handler: AnyHandler | undefined,
  options: ServiceAppOptions,
): RequestHandler {
  const run = handler ?? createEmptyHandler(endpoint);
  return async (req, res) => {
    const exchange = getExchange(res);
    exchange.route = endpoint.path;
    try {
      await runWithSpan(exchange.span, () => handleRequest({ endpoint, run, req, res, options }));
    } catch (error) {
      if (!(error instanceof ClientDisconnected)) sendErrorBody(res, error);
    }
  };
}

function createEmptyHandler(endpoint: Endpoint): AnyHandler {
  return async (params) => {
    if (endpoint.whenAbsent === "not_found") throw notFoundError(endpoint, params);
    return { rows: [] };
  };
}

async function handleRequest(request: {
  readonly endpoint: Endpoint;
  readonly run: AnyHandler;
  readonly req: Request;
  readonly res: Response;
  readonly options: ServiceAppOptions;
}): Promise<void> {
  const { endpoint, req, res, options } = request;
  const queryAt = req.url.indexOf("?");
  const parsed = parseQuery(endpoint, queryAt === -1 ? "" : req.url.slice(queryAt + 1));
  const { params, ignored } = parsed;
  const format = parsed.format ?? negotiateFormat(req.headers.accept);
  if (ignored.length > 0) res.setHeader("X-Ignored-Parameters", ignored.join(", "));

  const wanted = req.headers["if-none-match"];
  const maxAge = options.maxAgeSeconds?.(endpoint, params) ?? DEFAULT_MAX_AGE_SECONDS;
  // "*" matches any existing resource, which only the handler knows.
  const isOfHead = !isAsOf(params as AsOf);
  const known = isOfHead && hasEntityTags(wanted) ? options.dataVersion?.(endpoint, params) : undefined;
  if (known !== undefined) {
    const tag = entityTag({ endpoint, params, format }, { version: known });
    if (matchesTag(wanted, tag)) return sendNotModified(res, { tag, version: known, maxAge });
  }

  const { session } = getExchange(res);
  const { tracing, deadlineMs } = options;
  const read = (signal: AbortSignal) => runHandler(request, { params, session, signal });
  const work = (signal: AbortSignal) => withSpan(tracing, { name: "read rows" }, () => read(signal));
  const result = await withDeadline(work, { res, deadlineMs });
  const { version } = result;
  const body = makeBody(
    { endpoint, format, rows: result.rows },
    { tracing, isHashed: version === undefined },
  );
  const state = version === undefined ? { body: body.hashed } : { version };
  const tag = entityTag({ endpoint, params, format }, state);
  if (matchesTag(wanted, tag)) return sendNotModified(res, { tag, version, maxAge });
  setCacheHeaders(res, { tag, version, maxAge });
  const query = queryAt === -1 ? "" : req.url.slice(queryAt + 1);
  for (const [name, value] of pagingHeaders(endpoint, { params, query, result })) res.setHeader(name, value);
  await sendBody(res, { type: mediaTypeOf(endpoint, format), content: body.content });
}

/**
 * A result without a version has no block. If the table was never indexed, "no rows" and "no such item" would be false:
 * then this throws the 503.
 */
async function runHandler(
  request: { readonly endpoint: Endpoint; readonly run: AnyHandler; readonly options: ServiceAppOptions },
  at: { readonly params: ParamsOf<Endpoint>; readonly session: string; readonly signal: AbortSignal },
): Promise<TableResult> {
  const { endpoint, run, options } = request;
  const { params, session, signal } = at;
  const throwIfNoData = async (isAbsent: boolean): Promise<void> => {
    const error503 = await options.missingDataError?.(endpoint, { params, isAbsent });
    if (error503 !== undefined) throw error503;
  };
  try {
    const result = await run(params, { session, signal });
    if (result.version === undefined) await throwIfNoData(false);
    return result;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "not_found") await throwIfNoData(true);
    throw isStoreAway(error) ? storeAwayError(error) : error;
  }
}

/** A failover takes some seconds. */
const STORE_RETRY_SECONDS = 5;

function storeAwayError(cause: unknown): ServiceError {
  return new ServiceError("unavailable", "The store cannot be reached at the moment.", {
    cause,
    retryAfterSeconds: STORE_RETRY_SECONDS,
  });
}

interface CacheState {
  readonly tag: string;
  readonly version: TableResult["version"];
  readonly maxAge: number;
}

function sendNotModified(res: Response, state: CacheState): void {
  setCacheHeaders(res, state);
  res.statusCode = 304;
  res.end();
}

function setCacheHeaders(res: Response, { tag, version, maxAge }: CacheState): void {
  res.setHeader("ETag", tag);
  // Also where the query names the format: caches then keep a copy too many, never a wrong one.
  res.setHeader("Vary", "Accept");
  // Private: a response may have been paid for.
  const lasts = version?.isFinal ? `${FINAL_MAX_AGE_SECONDS}, immutable` : String(maxAge);
  res.setHeader("Cache-Control", `private, max-age=${lasts}`);
  if (version === undefined) return;
  res.setHeader("X-Data-Block", version.block);
  if (version.blockHash !== undefined) res.setHeader("X-Data-Block-Hash", version.blockHash);
  res.setHeader("X-Data-As-Of", `${new Date(version.time * 1000).toISOString().slice(0, 19)}+00:00`);
  if (version.head !== undefined) res.setHeader("X-Data-Head", version.head);
  if (version.fromBlock !== undefined) res.setHeader("X-Data-From-Block", version.fromBlock);
  if (version.positionsFromBlock !== undefined)
    res.setHeader("X-Data-Positions-From-Block", version.positionsFromBlock);
  if (version.swapShare !== undefined) res.setHeader("X-Data-Swap-Share", version.swapShare);
  if (version.stale !== undefined) res.setHeader("X-Data-Stale", version.stale);
}
