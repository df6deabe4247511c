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
import { isSignedByPayer } from "./signature.ts";

export interface PaymentFlowDeps {
  readonly server: Pick<x402ResourceServer, "findMatchingRequirements" | "verifyPayment">;
  readonly chain: PaymentChain;
  readonly ledger: Ledger;
  readonly locks: Locks;
  readonly settlement: Settlement;
  readonly forward: RequestForwarder;
  readonly delivery: Pick<Delivery, "sendComplete">;
  readonly metrics: PaymentMetrics;
  /** Offers and payments are counted by address: an offer costs nothing, and a payment is work before it is known to be good. */
  readonly addressLimits: Pick<AddressLimits, "count">;
  readonly log: Log;
  readonly clock: Clock;
  /** Base address as clients see it, without a slash at the end. */
  readonly publicUrl: () => string;
  /** Whether other gateways share the locks. */
  readonly hasPeers: boolean;
  /** For what comes before the settlement, from the arrival of the request. */
  readonly deadlineMs: number;
}

/**
 * Sells answers: `sell` asks for a payment, or takes the one that came along and answers. A payment is settled after
 * the service has answered well and before the first byte goes out, so that no error is charged; what a crash or an
 * outage in between leaves open is found again by its authorization, its payer or its identifier, and is answered
 * without a second settlement.
 */
export interface PaymentFlow {
  handlePaidRequest(context: RequestContext, offer: Offer): Promise<void>;
  /** Resolves when what is known of deliveries is written. For the end, when all connections are closed. */
  close(): Promise<void>;
}

export function createPaymentFlow(deps: PaymentFlowDeps): PaymentFlow {
  const { server, chain, ledger, locks, settlement, metrics, addressLimits, log, clock } = deps;
  const counter = createPaidDelivery(deps);
  const buy = createPurchase({ ...deps, counter });
  const acquireInTime = async ({ context }: PaidRequest, name: string): Promise<Lock> => {
    const waitMs = deps.deadlineMs - (clock.monotonicMs() - context.arrivedMs);
    const lock = await locks.acquire(name, { waitMs });
    if (lock !== undefined) return lock;
    metrics.recordOutcome(context, "pending");
    throw settlementPending("Another request with this payment is being answered.");
  };
  const earlier = createReplay({ ...deps, counter, acquireInTime });

  const readOrder = async (inquiry: PricedRequest): Promise<PaidRequest> => {
    const { req, res } = inquiry.context;
    const header = req.headers["payment-signature"];
    if (header === undefined) {
      await addressLimits.count("unpaid", req, res);
      metrics.recordOutcome(inquiry.context, "offered");
      throw paymentRequired(inquiry, "A payment is required: sign the one described here and send it along.");
    }
    const payment = readPayment(String(header));
    await addressLimits.count("verification", req, res);
    const fault = findMisfit(inquiry, payment) ?? findWrongTime(inquiry.offer, payment);
    if (fault !== undefined) throw paymentRequired(inquiry, `The payment does not fit: ${fault}.`);
    return { ...inquiry, payment, key: paymentKey(payment, inquiry.offer.requirements) };
  };

  /** What can be told of a payment without asking anybody. */
  const findMisfit = ({ offer, resourceUrl }: PricedRequest, { payload, authorization }: Payment) => {
    const { requirements } = offer;
    if (payload.resource?.url !== resourceUrl) return "it is for another resource";
    if (!matches(requirements, payload)) return "its terms are not those of this offer";
    if (authorization.to !== requirements.payTo.toLowerCase()) return "it is for somebody else";
    if (authorization.value !== BigInt(requirements.amount)) return "it is not over the price";
    return undefined;
  };

  /** An authorization that is good for years would have to be watched for years. */
  const findWrongTime = ({ requirements }: Offer, { authorization }: Payment): string | undefined => {
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
      // Nested deeper than the comparison goes.
      return false;
    }
  };

  const verify = async (order: PaidRequest): Promise<void> => {
    const { payment, offer } = order;
    const verdict =
      payment.authorization.validBefore <= clock.nowMs() / 1000
        ? { isValid: false, invalidReason: "payload_authorization_valid_before" }
        : await runOrUnavailable(
            () => server.verifyPayment(toFacilitatorPayload(order), offer.requirements),
            "Payments cannot be checked at the moment.",
          );
    if (verdict.isValid) return;
    log.info({ payment: order.key, reason: verdict.invalidReason }, "payment refused");
    throw paymentRequired(order, `The payment is not valid: ${describeReason(verdict.invalidReason)}.`);
  };

  /** An authorization that has been here before: its client sends its request again. */
  const serveKnown = async (order: PaidRequest, known: PaymentRecord): Promise<void> => {
    if (!isSameRequest(order, known))
      throw paymentRequired(order, "The payment has been used for another request.");
    const record = await runOrUnavailable(() => settlement.resolve(known));
    if (record.state === "settled") return counter.deliver(order, record, "repeated");
    if (record.state === "open") return buy(order, record);
    throw paymentRequired(order, "The payment can no longer be settled. Nothing was charged for it.");
  };

  /** Whether the order's payer may be given what was paid for before, whatever the wallet holds by now. */
  const mayHaveEarlier = async (order: PaidRequest): Promise<boolean> => {
    const { validAfter, validBefore } = order.payment.authorization;
    const nowSeconds = clock.nowMs() / 1000;
    if (validAfter > nowSeconds || validBefore <= nowSeconds || !(await earlier.exists(order))) return false;
    return runOrUnavailable(
      () => isSignedByPayer(order, chain),
      "The chain that payments are made on cannot be reached.",
    );
  };

  const serveNew = async (order: PaidRequest): Promise<void> => {
    const { identifier, authorization } = order.payment;
    // Two authorizations with one identifier must not both find that nothing was paid yet.
    const lock =
      identifier === undefined
        ? undefined
        : await acquireInTime(order, `identifier:${authorization.from}:${identifier}`);
    try {
      // Before the balance is looked at: the last payment may have taken all there was.
      if ((await mayHaveEarlier(order)) && (await earlier.serve(order))) return;
      await verify(order);
      if (!(await earlier.serve(order))) await buy(order);
    } finally {
      await lock?.release();
    }
  };

  const serve = async (inquiry: PricedRequest): Promise<void> => {
    // The service judges parameters; here they are looked at so that nobody is asked to pay for a refusal.
    parseQuery(inquiry.offer.endpoint, inquiry.context.query);
    const order = await readOrder(inquiry);
    metrics.expectOutcome(inquiry.context, "unsettled");
    const lock = await acquireInTime(order, order.key);
    try {
      const known = await runOrUnavailable(() => ledger.find(order.key));
      await (known === undefined ? serveNew(order) : serveKnown(order, known));
    } finally {
      await lock.release();
    }
  };

  return {
    close: counter.close,
    async handlePaidRequest(context, offer) {
      const { path } = offer.endpoint;
      const target = context.query === "" ? path : `${path}?${context.query}`;
      try {
        await serve({ context, offer, resourceUrl: deps.publicUrl() + target });
        metrics.recordOutcome(context, "unsettled");
      } catch (error) {
        // What the service itself refuses says nothing of the payment.
        const isOurs = error instanceof ServiceError && !(error instanceof ServiceErrorResponse);
        const code = isOurs ? error.code : "internal";
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
