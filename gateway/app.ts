import express, { type Express, type Request, type Response } from "express";
import type { Endpoint, Family } from "../services/shared/contract/endpoint.ts";
import { ServiceError } from "../services/shared/errors.ts";
import { createErrorHandler, type Exchange } from "../services/shared/http/exchange.ts";
import { setKeepAliveHeader } from "../services/shared/http/server.ts";
import type { Log } from "../services/shared/logging/log.ts";
import type { Metrics } from "../services/shared/metrics/metrics.ts";
import type { Tracing } from "../services/shared/tracing/tracing.ts";
import { createKeyGate } from "./auth/key-gate.ts";
import { SuspendedKeyError } from "./auth/keys/key-authenticator.ts";
import type { Auth } from "./auth/open-auth.ts";
import { createPublicLimits } from "./auth/public-limits.ts";
import { wantsEvents } from "./live/live-request.ts";
import { isMessage, MCP_PATH } from "./mcp/http/message.ts";
import { createMcpPage, mcpCors } from "./mcp/http/page.ts";
import type { LiveExamples } from "./pages/live-examples.ts";
import { createPages } from "./pages/pages.ts";
import type { ServiceStatuses } from "./proxy/upstream/service-statuses.ts";
import type { Upstream, UpstreamGroup } from "./proxy/upstream/upstream.ts";
import type { Clock } from "./request/clock.ts";
import type { PayHost, RequestContext, RequestForwarder } from "./request/context.ts";
import { type Cors, keyCors } from "./request/cors.ts";
import { checkRequest, createExchangeHandler, splitTarget } from "./request/entry.ts";
import { sendError } from "./request/errors.ts";
import { fixHeaders, HeaderList } from "./request/response-head.ts";
import { createRoutes, type Route } from "./request/routes.ts";
import { setSecurityHeaders, tableSecurityHeaders } from "./request/security-headers.ts";

export interface GatewayDeps {
  readonly catalogue: readonly Endpoint[];
  readonly access: Auth;
  readonly groups: ReadonlyMap<Family, UpstreamGroup>;
  /** Replicas that refuse this gateway's service token. */
  readonly tokenRefusedBy?: ReadonlySet<Upstream> | undefined;
  /** The status of services' chains, for /readyz. */
  readonly statuses: ServiceStatuses;
  readonly forward: RequestForwarder;
  /** Streams of events. */
  readonly live: RequestForwarder;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing?: Tracing | undefined;
  readonly clock: Clock;
  /** True from the moment the process starts to stop. */
  readonly isDraining: () => boolean;
  /** Base address as clients see it; unset = where each request came in. */
  readonly publicUrl?: string | undefined;
  /** The pay-per-request host, where its host name distinguishes it from this one. */
  readonly payHost?: PayHost | undefined;
  /** Base address of the pay-per-request host as clients see it, for documents. */
  readonly payUrl?: string | undefined;
  /** Examples for documents. */
  readonly liveExamples?: (() => LiveExamples) | undefined;
  /** Where this gateway answers on this machine. */
  readonly ownUrl: () => string;
}

/**
 * The gateway as an Express application; does no I/O by itself.
 *
 * Order of checks: form of the request (400) → path and method (404) → key (401, 403 where it is suspended) → its limits
 * (429) → its scope (403) → the service. Only the service checks parameters, although the parser could run here too: the
 * two could disagree while newer services are rolled out behind an older gateway, and the hot path parses once.
 * Once the key is known, every response counts against its limits alone, errors too. Refusals without a valid key, pages
 * and OPTIONS count against the client's address, with 429 above its limit.
 * A response cache wraps `forward`; a request for events goes to `live` in its place. Payment is not a gate but a host of its own (payments/flow/payment-handler.ts).
 */
export function createGateway(deps: GatewayDeps): Express {
  const { log, metrics, tracing, clock, forward, live, isDraining, access } = deps;
  const { addressLimits } = access;
  const publicLimits = createPublicLimits(access);
  const keyGate = createKeyGate({
    check: access.authenticateKey,
    addresses: addressLimits,
    admit: access.admitKey,
  });
  const routes = createRoutes(deps.catalogue, createPages({ ...deps, publicLimits }), {
    [MCP_PATH]: { page: createMcpPage({ ...deps, publicLimits }), cors: mcpCors },
  });

  const dispatch = (req: Request, res: Response, exchange: Exchange): void | Promise<void> => {
    const arrivedMs = clock.monotonicMs();
    checkRequest(req, { allowsBody: isMessage(req) });
    const { path, query } = splitTarget(req.url);
    const route = routes.get(path);
    if (route) exchange.route = route.path;
    if (route?.kind !== "endpoint" || (req.method !== "GET" && req.method !== "HEAD")) {
      setPageHeaders(res, exchange);
      return serveOther(req, res, route);
    }
    const { session, fields, span } = exchange;
    const headers = new HeaderList(tableHeaders);
    const { endpoint } = route;
    return serveTable({ req, res, endpoint, query, session, arrivedMs, fields, span, headers }, exchange);
  };

  /** Awaits only promises: on the hot path there are none. */
  const serveTable = (context: RequestContext, exchange: Exchange): void | Promise<void> => {
    const fail = (error: unknown): void => {
      const { res, fields, headers } = context;
      if (!res.headersSent) headers?.setOn(res);
      if (fields.key === undefined || error instanceof SuspendedKeyError) throw error;
      // The key's limits have counted the request already.
      if (!res.headersSent) setPageHeaders(res, exchange);
      sendError(res, error);
    };
    const answer = wantsEvents(context.req) ? live : forward;
    try {
      const admitted = keyGate(context);
      const done = admitted instanceof Promise ? admitted.then(() => answer(context)) : answer(context);
      return done instanceof Promise ? done.catch(fail) : done;
    } catch (error) {
      return fail(error);
    }
  };

  /** Everything but a table. */
  const serveOther = (req: Request, res: Response, route: Route | undefined): void | Promise<void> => {
    if (route && req.method === "OPTIONS")
      return publicLimits.count("preflight", req, res).then(() => corsOf(route).answerPreflight(res));
    if (route?.kind === "door") return route.page(req, res);
    if (!route || (req.method !== "GET" && req.method !== "HEAD")) throw notFound();
    return route.kind === "page" ? route.page(req, res) : undefined;
  };

  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.disable("query parser");
  const handle = (req: Request, res: Response, exchange: Exchange): void | Promise<void> => {
    if (deps.payHost?.matches(req)) return deps.payHost.handle(req, res);
    const fail = async (error: unknown): Promise<void> => {
      const sent = await publicLimits.countError(error, req, res);
      if (!res.headersSent) setPageHeaders(res, exchange);
      sendError(res, sent);
    };
    try {
      const done = dispatch(req, res, exchange);
      return done instanceof Promise ? done.catch(fail) : done;
    } catch (error) {
      return fail(error);
    }
  };
  app.use(createExchangeHandler({ log, metrics, tracing, isDraining, allowsBody: isMessage }, handle));
  app.use(createErrorHandler());
  return app;
}

function corsOf(route: Route): Cors {
  return route.kind === "door" ? route.cors : keyCors;
}

/** Headers of every table at this host. */
const tableHeaders = fixHeaders([...tableSecurityHeaders, ...keyCors.headers]);

/** Headers of pages and errors. */
function setPageHeaders(res: Response, { session }: Exchange): void {
  res.setHeader("X-Session-Id", session);
  setSecurityHeaders(res);
  keyCors.allowAnyOrigin(res);
  setKeepAliveHeader(res);
}

function notFound(): ServiceError {
  return new ServiceError(
    "not_found",
    "There is nothing at this path and method. GET /docs lists every endpoint.",
  );
}
