import express, { type Express, type Request, type RequestHandler, type Response } from "express";
import type { Answer, DataVersion, Endpoint, ParamsOf } from "../contract/endpoint.ts";
import { parseQuery } from "../contract/parse.ts";
import { renderTable } from "../table.ts";
import { entityTag, matchesTag } from "./conditional.ts";
import { ClientGone, withDeadline } from "./deadline.ts";
import {
  answerFailure,
  answerUnknown,
  exchangeOf,
  sendFailure,
  sendText,
  trackExchanges,
} from "./exchange.ts";
import { type AnyHandler, absent, type HandlerTable } from "./handlers.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { probes, type Readiness } from "./probes.ts";

export interface ServiceAppOptions {
  readonly endpoints: readonly Endpoint[];
  readonly handlers: HandlerTable;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Milliseconds until 408. */
  readonly deadlineMs: number;
  /** For /readyz. */
  readonly readiness: () => Promise<Readiness>;
  readonly draining?: () => boolean;
  /**
   * The version an answer would have now, where that is cheaper to know than the answer: lets If-None-Match be
   * answered with 304 without running the handler. Must be the version the handler would report.
   */
  readonly dataVersion?: (endpoint: Endpoint, params: ParamsOf<Endpoint>) => DataVersion | undefined;
  /** Of successful answers. The default is about one block of chain 8453, for the client itself only. */
  readonly cacheControl?: string;
}

const DEFAULT_CACHE_CONTROL = "private, max-age=1";

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
  const { log, metrics, readiness } = options;
  app.use(
    trackExchanges({
      log,
      metrics,
      acceptSession: true,
      ...(options.draining && { draining: options.draining }),
    }),
  );
  for (const endpoint of options.endpoints) {
    app.get(endpoint.path, serveEndpoint(endpoint, options.handlers[endpoint.path], options));
  }
  app.use(probes({ metrics, readiness }));
  app.use(answerUnknown());
  app.use(answerFailure());
  return app;
}

function serveEndpoint(
  endpoint: Endpoint,
  handler: AnyHandler | undefined,
  options: ServiceAppOptions,
): RequestHandler {
  const answer = handler ?? answerWithoutData(endpoint);
  return async (req, res) => {
    exchangeOf(res).route = endpoint.path;
    try {
      await answerRequest({ endpoint, answer, req, res, options });
    } catch (error) {
      if (!(error instanceof ClientGone)) sendFailure(res, error);
    }
  };
}

function answerWithoutData(endpoint: Endpoint): AnyHandler {
  return async (params) => {
    if (endpoint.whenAbsent === "not_found") throw absent(endpoint, params);
    return { rows: [] };
  };
}

async function answerRequest(request: {
  readonly endpoint: Endpoint;
  readonly answer: AnyHandler;
  readonly req: Request;
  readonly res: Response;
  readonly options: ServiceAppOptions;
}): Promise<void> {
  const { endpoint, req, res, options } = request;
  const queryAt = req.url.indexOf("?");
  const { params, ignored } = parseQuery(endpoint, queryAt === -1 ? "" : req.url.slice(queryAt + 1));
  if (ignored.length > 0) res.setHeader("X-Ignored-Parameters", ignored.join(", "));

  const wanted = req.headers["if-none-match"];
  const known = wanted === undefined ? undefined : options.dataVersion?.(endpoint, params);
  if (known !== undefined) {
    const tag = entityTag({ endpoint, params }, { version: known });
    if (matchesTag(wanted, tag)) return sendNotModified(res, { tag, version: known, options });
  }

  const { session } = exchangeOf(res);
  const answer = await withDeadline((signal) => request.answer(params, { session, signal }), {
    res,
    deadlineMs: options.deadlineMs,
  });
  const text = renderTable(endpoint, answer.rows);
  const { version } = answer;
  const tag = entityTag({ endpoint, params }, version === undefined ? { body: text } : { version });
  if (matchesTag(wanted, tag)) return sendNotModified(res, { tag, version, options });
  setCacheHeaders(res, { tag, version, options });
  sendText(res, { status: 200, type: endpoint.mediaType, text });
}

interface CacheState {
  readonly tag: string;
  readonly version: Answer["version"];
  readonly options: ServiceAppOptions;
}

function sendNotModified(res: Response, state: CacheState): void {
  setCacheHeaders(res, state);
  res.statusCode = 304;
  res.end();
}

function setCacheHeaders(res: Response, { tag, version, options }: CacheState): void {
  res.setHeader("ETag", tag);
  res.setHeader("Cache-Control", options.cacheControl ?? DEFAULT_CACHE_CONTROL);
  if (version === undefined) return;
  res.setHeader("X-Data-Block", version.block);
  res.setHeader("X-Data-As-Of", `${new Date(version.time * 1000).toISOString().slice(0, 19)}+00:00`);
  if (version.fromBlock !== undefined) res.setHeader("X-Data-From-Block", version.fromBlock);
}
