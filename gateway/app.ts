import express, { type Express, type Request, type Response } from "express";
import type { Endpoint, Family } from "../services/shared/contract/endpoint.ts";
import { ServiceError } from "../services/shared/errors.ts";
import { answerFailure, exchangeOf, trackExchanges } from "../services/shared/host/exchange.ts";
import type { Log } from "../services/shared/host/log.ts";
import type { Metrics } from "../services/shared/host/metrics.ts";
import type { KeyCheck } from "./access/key-check.ts";
import { createKeyGate } from "./access/key-gate.ts";
import type { Clock } from "./clock.ts";
import { allowAnyOrigin, answerPreflight } from "./http/cors.ts";
import { refuse } from "./http/refuse.ts";
import { createRoutes } from "./http/routes.ts";
import { securityHeaders } from "./http/security-headers.ts";
import { carriesBody, checkTarget, splitTarget } from "./http/target.ts";
import type { AddressLimits } from "./limits/address-limits.ts";
import type { AdmitKey } from "./limits/key-limits.ts";
import { createPages } from "./pages/pages.ts";
import type { Forward, Gate } from "./passage.ts";
import type { UpstreamGroup } from "./upstream/upstream.ts";

export interface GatewayDeps {
  readonly catalogue: readonly Endpoint[];
  readonly checkKey: KeyCheck;
  readonly admitKey: AdmitKey;
  readonly addressLimits: AddressLimits;
  readonly groups: ReadonlyMap<Family, UpstreamGroup>;
  readonly forward: Forward;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** True from the moment the process was asked to stop. */
  readonly isDraining: () => boolean;
  /** Base address as clients see it; unset = the Host of each request. */
  readonly publicUrl?: string | undefined;
}

/**
 * The gateway as an Express application; does no I/O by itself.
 *
 * Order of checks: form of the request (400) → path and method (404) → key (401, 403) → its limits (429) → the service.
 * Parameters are judged by the service alone, although the parser could run here too: one judge cannot disagree with
 * itself while services of a newer version are rolled out behind an older gateway, and the hot path parses once.
 * What is refused before the service is asked counts against the client's address, and is 429 where that is too often.
 * Gates of later features (payment) join the list of gates; a response cache wraps `forward`.
 */
export function createGateway(deps: GatewayDeps): Express {
  const { log, metrics, clock, forward, isDraining, addressLimits } = deps;
  const keyGate = createKeyGate({ check: deps.checkKey, addresses: addressLimits, admit: deps.admitKey });
  const gates: readonly Gate[] = [keyGate];
  const routes = createRoutes(deps.catalogue, createPages(deps));

  const dispatch = async (req: Request, res: Response): Promise<void> => {
    const arrivedMs = clock.monotonicMs();
    checkTarget(req);
    const { path, query } = splitTarget(req.url);
    const exchange = exchangeOf(res);
    const route = routes.get(path);
    if (route) exchange.route = route.path;
    if (route && req.method === "OPTIONS") return answerPreflight(res);
    if (!route || (req.method !== "GET" && req.method !== "HEAD")) throw nothingHere();
    if (carriesBody(req)) throw new ServiceError("bad_request", "A request must not carry a body.");
    if (route.kind === "page") return route.page(req, res);
    const { session, fields } = exchange;
    const passage = { req, res, endpoint: route.endpoint, query, session, arrivedMs, fields };
    for (const pass of gates) await pass(passage);
    await forward(passage);
  };

  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.disable("query parser");
  app.use(trackExchanges({ log, metrics, acceptSession: false, draining: isDraining }));
  app.use(securityHeaders());
  app.use(async (req: Request, res: Response) => {
    allowAnyOrigin(res);
    try {
      await dispatch(req, res);
    } catch (error) {
      refuse(req, res, await addressLimits.judge(error, req, res));
    }
  });
  app.use(answerFailure());
  return app;
}

function nothingHere(): ServiceError {
  return new ServiceError(
    "not_found",
    "There is nothing at this path and method. GET /docs lists every endpoint.",
  );
}
