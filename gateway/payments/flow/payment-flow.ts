import type { x402ResourceServer } from "@x402/core/server";
import { parseQuery } from "../../../services/shared/contract/parse.ts";
import { ServiceError } from "../../../services/shared/errors.ts";
import type { Log } from "../../../services/shared/logging/log.ts";
import type { AddressLimits } from "../../auth/limits/address-limits.ts";
import type { Delivery } from "../../proxy/delivery/delivery.ts";
import type { Clock } from "../../request/clock.ts";
import type { RequestContext, RequestForwarder } from "../../request/context.ts";
import { ServiceErrorResponse } from "../../request/errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Lock, Locks } from "../ledger/locks.ts";
import { type PaymentRecord, paymentKey } from "../ledger/payment-record.ts";
import { VALID_BEFORE_MARGIN_SECONDS } from "../network.ts";
import { type Payment, readPayment } from "../payload.ts";
import type { PaymentMetrics } from "../payment-metrics.ts";
import type { PaymentChain } from "../settlement/chain.ts";
import { describeReason } from "../settlement/reasons.ts";
import type { Settlement } from "../settlement/settlement.ts";
import { createPaidDelivery } from "./deliver-paid.ts";
import type { Offer, PricedRequest } from "./offers.ts";
import { isSameRequest, type PaidRequest, runOrUnavailable, toFacilitatorPayload } from "./paid-request.ts";
import { paymentRequired, settlementPending } from "./payment-errors.ts";
import { createPurchase } from "./purchase.ts";
import { createReplay } from "./replay.ts";
import { resourceUrlOf } from "./resource.ts";
import { isSignedByPayer } from "./signature.ts";

interface PaymentFlowDeps {
  readonly server: Pick<x402ResourceServer, "findMatchingRequirements" | "verifyPayment">;
  readonly chain: PaymentChain;
  readonly ledger: Ledger;
  readonly locks: Locks;
  readonly settlement: Settlement;
  readonly forward: RequestForwarder;
  readonly delivery: Pick<Delivery, "sendComplete">;
  readonly metrics: PaymentMetrics;
  /** Counts offers and payments by address: an offer is free for the client, and a payment costs work before it is verified. */
  readonly addressLimits: Pick<AddressLimits, "count">;
  readonly log: Log;
  readonly clock: Clock;
  /** Base address as clients see it, without a slash at the end. */
  readonly publicUrl: () => string;
  /** Whether the locks are shared with other gateways. */
  readonly hasPeers: boolean;
  /** Limit for everything before the settlement, from the arrival of the request. */
  readonly deadlineMs: number;
}

/**
 * Handles requests at the pay-per-request host: returns a 402 with the offer, or takes the payment and responds. A payment
 * is settled after the service has responded well and before the first byte goes out, so no error is charged. A payment
 * that a crash or an outage leaves open is found again by its authorization, payer or identifier, and gets its response
 * without a second settlement.
 */
export interface PaymentFlow {
  handlePaidRequest(context: RequestContext, offer: Offer): Promise<void>;
  /** Resolves when the known delivery outcomes are stored. Call it at the end, when all connections are closed. */
  close(): Promise<void>;
}

export function createPaymentFlow(deps: PaymentFlowDeps): PaymentFlow {
  const { server, chain, ledger, locks, settlement, metrics, addressLimits, log, clock } = deps;
  const paidDelivery = createPaidDelivery(deps);
  const purchase = createPurchase({ ...deps, paidDelivery });
  const acquireInTime = async ({ context }: PaidRequest, name: string): Promise<Lock> => {
    const waitMs = deps.deadlineMs - (clock.monotonicMs() - context.arrivedMs);
    const lock = await locks.acquire(name, { waitMs });
    if (lock !== undefined) return lock;
    metrics.recordOutcome(context, "pending");
    throw settlementPending("Another request with this payment is in progress.");
  };
  const replay = createReplay({ ...deps, paidDelivery, acquireInTime });

  const readPaidRequest = async (priced: PricedRequest): Promise<PaidRequest> => {
    const { req, res } = priced.context;
    const header = req.headers["payment-signature"];
    if (header === undefined) {
      await addressLimits.count("unpaid", req, res);
      metrics.recordOutcome(priced.context, "offered");
      throw paymentRequired(
        priced,
        "A payment is required: sign the one described here and send it with the request.",
      );
    }
    const payment = readPayment(String(header));
    await addressLimits.count("verification", req, res);
    const fault = findMismatch(priced, payment) ?? findInvalidTime(priced.offer, payment);
    if (fault !== undefined) throw paymentRequired(priced, `The payment does not match: ${fault}.`);
    return { ...priced, payment, key: paymentKey(payment, priced.offer.requirements) };
  };

  /** Checks a payment without any request; returns what does not match. */
  const findMismatch = ({ offer, resourceUrl }: PricedRequest, { payload, authorization }: Payment) => {
    const { requirements } = offer;
    if (payload.resource?.url !== resourceUrl) return "it is for another resource";
    if (!matches(requirements, payload)) return "its terms are not those of this offer";
    if (authorization.to !== requirements.payTo.toLowerCase()) return "it pays another address";
    if (authorization.value !== BigInt(requirements.amount)) return "its amount is not the price";
    return undefined;
  };

  /** An authorization that is valid for years would have to be watched for years. */
  const findInvalidTime = ({ requirements }: Offer, { authorization }: Payment): string | undefined => {
    const nowSeconds = Math.floor(clock.nowMs() / 1000);
    const { validBefore } = authorization;
    const latest = nowSeconds + requirements.maxTimeoutSeconds + VALID_BEFORE_MARGIN_SECONDS;
    if (validBefore <= latest) return undefined;
    return `its validBefore is ${validBefore}, ${validBefore - nowSeconds} seconds ahead, and may be ${latest - nowSeconds} seconds ahead at most (maxTimeoutSeconds ${requirements.maxTimeoutSeconds} and ${VALID_BEFORE_MARGIN_SECONDS} for clocks that differ)`;
  };

  const matches = (requirements: Offer["requirements"], payload: Payment["payload"]): boolean => {
    try {
      return server.findMatchingRequirements([requirements], payload) !== undefined;
    } catch {
      // Nested deeper than the comparison supports.
      return false;
    }
  };

  const verify = async (request: PaidRequest): Promise<void> => {
    const { payment, offer } = request;
    const verdict =
      payment.authorization.validBefore <= clock.nowMs() / 1000
        ? { isValid: false, invalidReason: "payload_authorization_valid_before" }
        : await runOrUnavailable(
            () => server.verifyPayment(toFacilitatorPayload(request), offer.requirements),
            "Payments cannot be verified at the moment.",
          );
    if (verdict.isValid) return;
    log.info({ payment: request.key, reason: verdict.invalidReason }, "payment refused");
    throw paymentRequired(request, `The payment is not valid: ${describeReason(verdict.invalidReason)}.`);
  };

  /** Handles a known authorization: its client repeats the request. */
  const handleKnownPayment = async (request: PaidRequest, known: PaymentRecord): Promise<void> => {
    if (!isSameRequest(request, known))
      throw paymentRequired(request, "The payment has been used for another request.");
    const record = await runOrUnavailable(() => settlement.resolve(known));
    if (record.state === "settled") return paidDelivery.deliver(request, record, "repeated");
    if (record.state === "open") return purchase(request, record);
    throw paymentRequired(request, "The payment can no longer be settled. Nothing was charged for it.");
  };

  /** Whether the payer may get the response of an earlier payment, whatever the wallet holds by now. */
  const mayReplay = async (request: PaidRequest): Promise<boolean> => {
    const { validAfter, validBefore } = request.payment.authorization;
    const nowSeconds = clock.nowMs() / 1000;
    if (validAfter > nowSeconds || validBefore <= nowSeconds || !(await replay.exists(request))) return false;
    return runOrUnavailable(() => isSignedByPayer(request, chain), "The payment chain cannot be reached.");
  };

  const handleNewPayment = async (request: PaidRequest): Promise<void> => {
    const { identifier, authorization } = request.payment;
    // Two authorizations with one identifier must not both find that no payment exists yet.
    const lock =
      identifier === undefined
        ? undefined
        : await acquireInTime(request, `identifier:${authorization.from}:${identifier}`);
    try {
      // Before the balance is checked: the earlier payment may have emptied the wallet.
      if ((await mayReplay(request)) && (await replay.serve(request))) return;
      await verify(request);
      if (!(await replay.serve(request))) await purchase(request);
    } finally {
      await lock?.release();
    }
  };

  const handle = async (priced: PricedRequest): Promise<void> => {
    // The service validates parameters too; checked here so that no client pays for a refusal.
    parseQuery(priced.offer.endpoint, priced.context.query);
    const request = await readPaidRequest(priced);
    metrics.expectOutcome(priced.context, "unsettled");
    const lock = await acquireInTime(request, request.key);
    try {
      const known = await runOrUnavailable(() => ledger.find(request.key));
      await (known === undefined ? handleNewPayment(request) : handleKnownPayment(request, known));
    } finally {
      await lock.release();
    }
  };

  return {
    close: paidDelivery.close,
    async handlePaidRequest(context, offer) {
      const { path } = offer.endpoint;
      const resourceUrl = resourceUrlOf(deps.publicUrl(), { path, query: context.query });
      try {
        await handle({ context, offer, resourceUrl });
        metrics.recordOutcome(context, "unsettled");
      } catch (error) {
        // An error of the service says nothing about the payment.
        const isGatewayError = error instanceof ServiceError && !(error instanceof ServiceErrorResponse);
        const code = isGatewayError ? error.code : "internal";
        const isRefused = code === "payment_required" || code === "bad_request" || code === "rate_limited";
        metrics.recordOutcome(
          context,
          isRefused ? "refused" : code === "unavailable" ? "unavailable" : "unsettled",
        );
        throw error;
      }
    },
  };
}
