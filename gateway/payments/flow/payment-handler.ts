import express, { type Express, type Request, type Response } from "express";
import { ServiceError } from "../../../services/shared/errors.ts";
import { checkDeliveries } from "../../../services/shared/http/delivery-outcome.ts";
import { type ExchangeSinks, getExchange, sendText } from "../../../services/shared/http/exchange.ts";
import { setKeepAliveHeader } from "../../../services/shared/http/server.ts";
import { runWithSpan } from "../../../services/shared/tracing/active.ts";
import type { AddressLimits } from "../../auth/limits/address-limits.ts";
import { wantsEvents } from "../../live/live-request.ts";
import { isMessage, MCP_PATH } from "../../mcp/http/message.ts";
import { describeResources } from "../../pages/well-known.ts";
import type { Clock } from "../../request/clock.ts";
import { mcpPayCors, payCors } from "../../request/cors.ts";
import { checkRequest, createExchangeHandler, splitTarget } from "../../request/entry.ts";
import { sendError } from "../../request/errors.ts";
import { setSecurityHeaders } from "../../request/security-headers.ts";
import type { Offers } from "./offers.ts";
import type { PaymentFlow } from "./payment-flow.ts";

interface PaymentHandlerDeps {
  readonly offers: Offers;
  readonly paymentFlow: PaymentFlow;
  readonly clock: Clock;
  /** For responses that cost a client nothing; the payment flow itself counts offers and payments. */
  readonly addressLimits: Pick<AddressLimits, "countError" | "count">;
  /** Base address as clients see it. */
  readonly publicUrl: () => string;
  /** Answers at /mcp; absent where tools are asked by themselves. */
  readonly messages?: (req: Request, res: Response) => Promise<void>;
}

const RESOURCES_PATH = "/.well-known/x402";

/** Handles a request at the pay-per-request host, on either port, after its exchange has begun. Never rejects. */
export type PaymentHandler = (req: Request, res: Response) => Promise<void>;

/**
 * Order of checks: form of the request (400) → path and method (404; GET only, so that no HEAD runs a service for
 * nothing) → the payment flow: parameters (400), payment (402), the service. A refusal before a payment is checked
 * counts against the client's address, and is 429 if there are too many.
 */
export function createPaymentHandler({
  offers,
  paymentFlow,
  clock,
  addressLimits,
  publicUrl,
  messages,
}: PaymentHandlerDeps): PaymentHandler {
  const sold = [...offers.values()].map(({ endpoint }) => endpoint);
  const dispatch = async (req: Request, res: Response): Promise<void> => {
    const arrivedMs = clock.monotonicMs();
    checkRequest(req, { allowsBody: isMessage(req) });
    const { path, query } = splitTarget(req.url);
    const exchange = getExchange(res);
    if (path === MCP_PATH && messages !== undefined) {
      exchange.route = path;
      if (req.method !== "OPTIONS") return messages(req, res);
      await addressLimits.count("preflight", req, res);
      return mcpPayCors.answerPreflight(res);
    }
    if (path === RESOURCES_PATH && req.method === "GET") {
      exchange.route = path;
      await addressLimits.count("page", req, res);
      const text = describeResources(sold, publicUrl());
      return sendText(res, { status: 200, type: "application/json", text });
    }
    const offer = offers.get(path);
    if (offer) exchange.route = path;
    if (offer && req.method === "OPTIONS") {
      await addressLimits.count("preflight", req, res);
      return payCors.answerPreflight(res);
    }
    if (!offer || req.method !== "GET") throw nothingForSale(offers);
    if (wantsEvents(req)) throw streamsAreNotSold();
    // No client should pay for a 304.
    delete req.headers["if-none-match"];
    const { session, fields, span } = exchange;
    const context = { req, res, endpoint: offer.endpoint, query, session, arrivedMs, fields, span };
    await paymentFlow.handlePaidRequest(context, offer);
  };
  return async (req, res) => {
    res.setHeader("X-Session-Id", getExchange(res).session);
    setSecurityHeaders(res);
    setKeepAliveHeader(res);
    payCors.allowAnyOrigin(res);
    try {
      await checkDeliveries(req.socket);
      await runWithSpan(getExchange(res).span, () => dispatch(req, res));
    } catch (error) {
      sendError(res, await addressLimits.countError(error, req, res));
    }
  };
}

/** The pay-per-request host as an application for its own port. */
export function createPayApp(
  answer: PaymentHandler,
  options: ExchangeSinks & { readonly isDraining: () => boolean },
): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.disable("query parser");
  app.use(createExchangeHandler({ ...options, allowsBody: isMessage }, answer));
  return app;
}

/**
 * Whether a request's Host header names the host of a URL. The URL comes from the configuration alone, so the header only
 * chooses between two hosts.
 */
export function createHostTest(publicUrl: string): (req: Request) => boolean {
  const { host, hostname, port, protocol } = new URL(publicUrl);
  const withPort = port === "" ? `${hostname}:${protocol === "https:" ? 443 : 80}` : host;
  const names = new Set([host, withPort].map((name) => name.toLowerCase()));
  return (req) => names.has((req.headers.host ?? "").toLowerCase());
}

/** A payment is for one answer that the gateway has in hand before it settles; a stream has no end to settle for. */
function streamsAreNotSold(): ServiceError {
  return new ServiceError(
    "bad_request",
    "Live streams are not sold by the request: they are served at the host with API keys. Here, leave out Accept: text/event-stream and pay for one table.",
  );
}

function nothingForSale(offers: Offers): ServiceError {
  const paths = [...offers.keys()].join(", ");
  return new ServiceError(
    "not_found",
    `Nothing is for sale at this path and method. GET ${paths === "" ? "nothing, for now" : paths}.`,
  );
}
