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

export interface PurchaseDeps {
  readonly chain: PaymentChain;
  readonly ledger: Ledger;
  readonly settlement: Settlement;
  readonly counter: PaidDelivery;
  readonly forward: RequestForwarder;
  readonly metrics: PaymentMetrics;
  readonly log: Log;
  readonly clock: Clock;
}

/**
 * Has the service answer, settles before the first byte of a good answer goes out, and sends it with the receipt.
 * `earlier` is what an interrupted attempt with the same authorization has left.
 */
export type Purchase = (order: PaidRequest, earlier?: PaymentRecord) => Promise<void>;

export function createPurchase(deps: PurchaseDeps): Purchase {
  const { chain, ledger, settlement, counter, forward, metrics, log, clock } = deps;

  const openRecord = async (order: PaidRequest, fromBlock: number): Promise<PaymentRecord> => {
    const { payment, offer, context, key, resourceUrl } = order;
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
      payload: toFacilitatorPayload(order),
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
    // Only without Redis: locks keep others out otherwise.
    metrics.recordOutcome(context, "pending");
    throw settlementPending("This payment is being settled by another request.");
  };

  const explain = async (
    order: PaidRequest,
    settled: SettlementResult,
    isNew: boolean,
  ): Promise<ServiceError> => {
    const { outcome, record } = settled;
    if (outcome === "unreached") {
      // Without a trace, so that the client is free to pay anew at once.
      if (isNew) await ledger.forget(record).catch(() => {});
      return paymentUnavailable("Payments cannot be settled at the moment.");
    }
    if (outcome === "refused")
      return settlementFailed(order, record, `The payment was not settled: ${settled.reason}.`);
    if (outcome === "void")
      return settlementFailed(
        order,
        record,
        "The payment was not settled: its authorization is used up or expired.",
      );
    metrics.recordOutcome(order.context, "pending");
    return settlementPending("The payment has been sent and is not on the chain yet.");
  };

  const pay = async (order: PaidRequest, record: PaymentRecord, isNew: boolean): Promise<PaymentRecord> => {
    const startedMs = clock.monotonicMs();
    const settled = await settlement.settle(record);
    metrics.observeSettlement((clock.monotonicMs() - startedMs) / 1000);
    if (settled.outcome !== "settled") throw await explain(order, settled, isNew);
    const { transaction, payer, path, amount } = settled.record;
    log.info({ session: order.context.session, route: path, payer, amount, transaction }, "payment settled");
    metrics.recordOutcome(order.context, "settled");
    setSuccessReceipt(order.context.res, settled.record);
    return settled.record;
  };

  return async (order, earlier) => {
    const { res } = order.context;
    // Asked for while the service works: a settlement must lie beyond it, however old it is by then.
    const head = earlier === undefined ? chain.headNumber() : Promise.resolve(earlier.fromBlock);
    head.catch(() => {});
    let paying: Promise<PaymentRecord | undefined> | undefined;
    const settleBeforeSending = async (answer: CompleteResponse): Promise<PaymentRecord | undefined> => {
      const fromBlock = await runOrUnavailable(
        () => head,
        "The chain that payments are made on cannot be reached.",
      );
      const record = earlier ?? (await openRecord(order, fromBlock));
      await runOrUnavailable(() => ledger.keepAnswer(record, answer));
      // Looked at when the record is there: a client that leaves later and asks anew will find it.
      if (!res.destroyed) return pay(order, record, earlier === undefined);
      if (earlier === undefined) await runOrUnavailable(() => ledger.forget(record));
      return undefined;
    };
    let following: DeliveryTracker | undefined;
    try {
      await forward({
        ...order.context,
        beforeSend: async (answer) => {
          paying = settleBeforeSending(answer);
          const paid = await paying;
          if (paid !== undefined) following = counter.track(order.context, paid);
        },
      });
    } catch (error) {
      following?.cancel();
      throw error;
    } finally {
      // The client may have gone meanwhile: its payment is brought to an end all the same.
      await paying?.catch(() => undefined);
    }
    await following?.concluded();
  };
}
