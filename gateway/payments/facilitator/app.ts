import type { x402Facilitator } from "@x402/core/facilitator";
import { parsePaymentPayload, parsePaymentRequirements } from "@x402/core/schemas";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import express, { type Express, type Request, type Response } from "express";
import { ServiceError } from "../../../services/shared/errors.ts";
import {
  answerNotFound,
  createErrorHandler,
  getExchange,
  sendText,
  trackExchanges,
} from "../../../services/shared/http/exchange.ts";
import type { Log } from "../../../services/shared/logging/log.ts";
import type { Metrics } from "../../../services/shared/metrics/metrics.ts";
import { createProbes, type Readiness } from "../../../services/shared/service/probes.ts";
import { createTokenCheck, TOKEN_HEADER } from "../../../services/shared/service/service-token.ts";
import type { Tracing } from "../../../services/shared/tracing/tracing.ts";

interface FacilitatorAppDeps {
  readonly facilitator: Pick<x402Facilitator, "verify" | "settle" | "getSupported">;
  /** Returns why this facilitator refuses a payment, undefined if it does not. */
  readonly findRefusal: (
    payload: PaymentPayload,
    requirements: PaymentRequirements,
  ) => Promise<string | undefined>;
  readonly token?: string | undefined;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing?: Tracing | undefined;
  readonly readiness: () => Promise<Readiness>;
  readonly isDraining: () => boolean;
}

const MAX_BODY = "64kb";

/** The facilitator's HTTP interface of x402 version 2: POST /verify, POST /settle, GET /supported. */
export function createFacilitatorApp(deps: FacilitatorAppDeps): Express {
  const { facilitator, log, metrics, tracing, isDraining } = deps;
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.use(trackExchanges({ log, metrics, tracing, acceptSession: false, draining: isDraining }));
  app.use(createProbes({ readiness: deps.readiness }));
  app.use(checkToken(deps.token));

  app.get("/supported", (_req, res) => {
    getExchange(res).route = "/supported";
    sendJson(res, facilitator.getSupported());
  });
  app.post("/verify", express.json({ limit: MAX_BODY }), async (req, res) => {
    getExchange(res).route = "/verify";
    const { payload, requirements } = readBody(req);
    const refused = await deps.findRefusal(payload, requirements);
    const verdict =
      refused === undefined
        ? await facilitator.verify(payload, requirements)
        : { isValid: false, invalidReason: refused };
    getExchange(res).fields.verdict = verdict.isValid ? "valid" : verdict.invalidReason;
    // Details of a reason go to the log only: they may contain text of an RPC endpoint.
    if (!verdict.isValid) log.info({ verdict }, "payment is not valid");
    const { isValid, invalidReason, payer } = verdict as typeof verdict & { payer?: string };
    sendJson(res, { isValid, invalidReason, payer });
  });
  app.post("/settle", express.json({ limit: MAX_BODY }), async (req, res) => {
    getExchange(res).route = "/settle";
    const { payload, requirements } = readBody(req);
    const { network } = requirements;
    const refused = await deps.findRefusal(payload, requirements);
    const result =
      refused === undefined
        ? await facilitator.settle(payload, requirements)
        : { success: false, errorReason: refused, transaction: "", network };
    getExchange(res).fields.settlement = result.success ? result.transaction : result.errorReason;
    if (!result.success) log.warn({ result }, "payment is not settled");
    const { success, errorReason, payer, transaction } = result as typeof result & { payer?: string };
    sendJson(res, { success, errorReason, payer, transaction, network });
  });

  app.use(answerNotFound());
  app.use(answerBrokenBody);
  app.use(createErrorHandler());
  return app;
}

/** Everything but the probes needs the token, if one is set. */
function checkToken(token: string | undefined) {
  const isAuthorized = createTokenCheck(token === undefined ? [] : [token]);
  return (req: Request, _res: Response, next: () => void): void => {
    if (isAuthorized?.(req.headers[TOKEN_HEADER]) === false)
      throw new ServiceError("unauthorized", "The bearer token is missing or wrong.");
    next();
  };
}

function readBody(req: Request): { payload: PaymentPayload; requirements: PaymentRequirements } {
  const body = (req.body ?? {}) as Record<string, unknown>;
  const payload = parsePaymentPayload(body.paymentPayload);
  const requirements = parsePaymentRequirements(body.paymentRequirements);
  if (!payload.success || !requirements.success || payload.data.x402Version !== 2)
    throw new ServiceError(
      "bad_request",
      "The body is no paymentPayload with paymentRequirements of version 2.",
    );
  return {
    payload: payload.data as PaymentPayload,
    requirements: requirements.data as unknown as PaymentRequirements,
  };
}

function answerBrokenBody(
  error: unknown,
  _req: Request,
  _res: Response,
  next: (error: unknown) => void,
): void {
  // Too long, not JSON, another coding or character set, shorter than its length: all are the client's errors.
  const isInternal = error instanceof ServiceError || !(error instanceof Error);
  const isBroken = !isInternal && "status" in error && Number(error.status) < 500;
  next(isBroken ? new ServiceError("bad_request", "The body is not JSON of up to 64 KB.") : error);
}

function sendJson(res: Response, value: unknown): void {
  sendText(res, { status: 200, type: "application/json", text: JSON.stringify(value) });
}
