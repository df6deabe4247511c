import type { ServiceError } from "../../../services/shared/errors.ts";
import type { Log } from "../../../services/shared/logging/log.ts";
import type { Clock } from "../../request/clock.ts";
import type { CompleteResponse, RequestForwarder } from "../../request/context.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { PaymentRecord } from "../ledger/payment-record.ts";
import type { PaymentMetrics } from "../payment-metrics.ts";
import type { PaymentChain } from "../settlement/chain.ts";
import type { Settlement, SettlementResult } from "../settlement/settlement.ts";
import type { DeliveryTracker, PaidDelivery } from "./deliver-paid.ts";
import { type PaidRequest, runOrUnavailable, toFacilitatorPayload } from "./paid-request.ts";
import {
  paymentUnavailable,
  setSuccessReceipt,
  settlementFailed,
  settlementPending,
} from "./payment-errors.ts";

interface PurchaseDeps {
  readonly chain: PaymentChain;
  readonly ledger: Ledger;
  readonly settlement: Settlement;
  readonly paidDelivery: PaidDelivery;
  readonly forward: RequestForwarder;
  readonly metrics: PaymentMetrics;
  readonly log: Log;
  readonly clock: Clock;
}

/**
 * Forwards the request, settles the payment before the first byte of a good response goes out, and sends it with the
 * receipt; a cached response is sold like any other. `interrupted` is the record of an interrupted attempt with the same authorization.
 */
type Purchase = (request: PaidRequest, interrupted?: PaymentRecord) => Promise<void>;

export function createPurchase(deps: PurchaseDeps): Purchase {
  const { chain, ledger, settlement, paidDelivery, forward, metrics, log, clock } = deps;

  const openRecord = async (request: PaidRequest, fromBlock: number): Promise<PaymentRecord> => {
    const { payment, offer, context, key, resourceUrl } = request;
    const { authorization, identifier = null } = payment;
    const { network, asset, payTo, amount } = offer.requirements;
    const record: PaymentRecord = {
      key,
      state: "open",
      payer: authorization.from,
      nonce: authorization.nonce,
      resource: resourceUrl,
      path: offer.endpoint.path,
      network,
      asset: asset.toLowerCase(),
      payTo,
      amount,
      identifier,
      payload: toFacilitatorPayload(request),
      requirements: offer.requirements,
      fromBlock,
      validBefore: authorization.validBefore,
      transaction: null,
      reason: null,
      session: context.session,
      createdAt: clock.nowMs(),
      settledAt: null,
      deliveredAt: null,
    };
    if (await runOrUnavailable(() => ledger.open(record))) return record;
    // Only without Redis: otherwise locks prevent it.
    metrics.recordOutcome(context, "pending");
    throw settlementPending("This payment is being settled by another request.");
  };

  const toError = async (
    request: PaidRequest,
    settled: SettlementResult,
    isNew: boolean,
  ): Promise<ServiceError> => {
    const { outcome, record } = settled;
    if (outcome === "unreached") {
      // Leaves no record, so that the client can pay again at once.
      if (isNew) await ledger.discard(record).catch(() => {});
      return paymentUnavailable("Payments cannot be settled at the moment.");
    }
    if (outcome === "refused")
      return settlementFailed(request, record, `The payment was not settled: ${settled.reason}.`);
    if (outcome === "void")
      return settlementFailed(
        request,
        record,
        "The payment was not settled: its authorization is used or expired.",
      );
    metrics.recordOutcome(request.context, "pending");
    return settlementPending("The payment has been sent and is not on the chain yet.");
  };

  const settle = async (
    request: PaidRequest,
    record: PaymentRecord,
    isNew: boolean,
  ): Promise<PaymentRecord> => {
    const startedMs = clock.monotonicMs();
    const settled = await settlement.settle(record);
    metrics.observeSettlement((clock.monotonicMs() - startedMs) / 1000);
    if (settled.outcome !== "settled") throw await toError(request, settled, isNew);
    const { transaction, payer, path, amount } = settled.record;
    log.info(
      { session: request.context.session, route: path, payer, amount, transaction },
      "payment settled",
    );
    metrics.recordOutcome(request.context, "settled");
    setSuccessReceipt(request.context.res, settled.record);
    return settled.record;
  };

  return async (request, interrupted) => {
    const { res } = request.context;
    // Read while the service works: the settlement is in a later block, however old this one is by then.
    const head = interrupted === undefined ? chain.headNumber() : Promise.resolve(interrupted.fromBlock);
    head.catch(() => {});
    let settling: Promise<PaymentRecord | undefined> | undefined;
    const settleBeforeSending = async (answer: CompleteResponse): Promise<PaymentRecord | undefined> => {
      const fromBlock = await runOrUnavailable(() => head, "The payment chain cannot be reached.");
      const record = interrupted ?? (await openRecord(request, fromBlock));
      await runOrUnavailable(() => ledger.storeResponse(record, answer));
      // Checked once the record exists: a client that disconnects later and repeats the request will find it.
      if (!hasLeft(request.context)) return settle(request, record, interrupted === undefined);
      if (interrupted === undefined) await runOrUnavailable(() => ledger.discard(record));
      // Where the connection is still held, the table would go out unpaid.
      if (res.destroyed) return undefined;
      metrics.recordOutcome(request.context, "unsettled");
      throw settlementPending("The connection was ended before the payment was settled.");
    };
    let tracker: DeliveryTracker | undefined;
    try {
      await forward({
        ...request.context,
        beforeSend: async (answer) => {
          settling = settleBeforeSending(answer);
          const paid = await settling;
          if (paid !== undefined) tracker = paidDelivery.track(request.context, paid);
        },
      });
    } catch (error) {
      tracker?.cancel();
      throw error;
    } finally {
      // Even if the client has disconnected, its payment is brought to an end.
      await settling?.catch(() => undefined);
    }
    await tracker?.concluded();
  };
}

/**
 * Whether the client has disconnected. One that has ended its side counts: its connection would be closed by now if it were
 * not held open until an earlier paid response on it has been acknowledged (watchDelivery).
 */
function hasLeft({ req, res }: PaidRequest["context"]): boolean {
  return res.destroyed || req.socket.readableEnded;
}
