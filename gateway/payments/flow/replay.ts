import { ServiceError } from "../../../services/shared/errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Lock } from "../ledger/locks.ts";
import type { PaymentRecord } from "../ledger/payment-record.ts";
import type { PaymentMetrics } from "../payment-metrics.ts";
import type { Settlement } from "../settlement/settlement.ts";
import type { PaidDelivery } from "./deliver-paid.ts";
import { type PaidRequest, runOrUnavailable } from "./paid-request.ts";
import { settlementPending } from "./payment-errors.ts";

export interface ReplayDeps {
  readonly ledger: Ledger;
  readonly settlement: Settlement;
  readonly counter: PaidDelivery;
  readonly metrics: PaymentMetrics;
  /** Waits for a lock as long as the request may; throws stillPending. */
  readonly acquireInTime: (order: PaidRequest, name: string) => Promise<Lock>;
}

/**
 * Answers an order that its payer has signed from an earlier payment of the same payer: one with the same payment-identifier, or one for
 * the same address that has brought no answer (a crash, an outage, a client that had to go). False where there is none:
 * only then may the new payment be charged.
 */
export interface Replay {
  serve(order: PaidRequest): Promise<boolean>;
  /** Whether there may be one, by the ledger: before anything is known of the order but its form and terms. */
  exists(order: PaidRequest): Promise<boolean>;
}

export function createReplay(deps: ReplayDeps): Replay {
  const { ledger, settlement, counter, metrics, acquireInTime } = deps;

  /** Settled or void: an earlier payment may not be left hanging while another one is charged. */
  const settleOrVoid = async (order: PaidRequest, found: PaymentRecord): Promise<PaymentRecord> => {
    const record = await runOrUnavailable(() => settlement.resolve(found));
    if (record.state !== "open") return record;
    const again = await settlement.settle(record);
    if (again.record.state !== "open") return again.record;
    metrics.recordOutcome(order.context, "pending");
    throw settlementPending(
      "An earlier payment for this request is still on its way; this one was not charged.",
    );
  };

  const serveIdentified = async (order: PaidRequest, identifier: string): Promise<boolean> => {
    const { from } = order.payment.authorization;
    const same = await runOrUnavailable(() => ledger.findByIdentifier(from, identifier));
    if (same === undefined || isItself(order, same)) return false;
    if (same.resource !== order.resourceUrl) {
      throw new ServiceError(
        "bad_request",
        "The payment-identifier has been used for another request: take a new one.",
      );
    }
    const lock = await acquireInTime(order, same.key);
    try {
      const found = await runOrUnavailable(() => ledger.find(same.key));
      if (found === undefined || found.state === "void") return false;
      const record = await settleOrVoid(order, found);
      const isKept =
        record.deliveredAt === null ||
        (await runOrUnavailable(() => ledger.findAnswer(record))) !== undefined;
      if (record.state === "void" || !isKept) return false;
      await counter.deliver(order, record, "identified");
      return true;
    } finally {
      await lock.release();
    }
  };

  const serveOwed = async (order: PaidRequest, { key }: PaymentRecord): Promise<boolean> => {
    // One that is being answered just now is waited for: its client may have left, and be asking here.
    const lock = await acquireInTime(order, key);
    try {
      await counter.refresh(order);
      const found = await runOrUnavailable(() => ledger.find(key));
      if (found === undefined || found.deliveredAt !== null || found.state === "void") return false;
      const record = await settleOrVoid(order, found);
      if (record.state === "void") return false;
      await counter.deliver(order, record, "owed");
      return true;
    } finally {
      await lock.release();
    }
  };

  const findOwed = async ({ payment, resourceUrl, key }: PaidRequest): Promise<PaymentRecord[]> => {
    const owed = await runOrUnavailable(() => ledger.findOwed(payment.authorization.from, resourceUrl));
    return owed.filter((record) => record.key !== key);
  };

  return {
    async serve(order) {
      const { identifier } = order.payment;
      if (identifier !== undefined && (await serveIdentified(order, identifier))) return true;
      await counter.refresh(order);
      for (const owed of await findOwed(order)) {
        if (await serveOwed(order, owed)) return true;
      }
      return false;
    },
    async exists(order) {
      const { identifier, authorization } = order.payment;
      await counter.refresh(order);
      if ((await findOwed(order)).length > 0) return true;
      if (identifier === undefined) return false;
      const same = await runOrUnavailable(() => ledger.findByIdentifier(authorization.from, identifier));
      return same !== undefined && !isItself(order, same);
    },
  };
}

/** Another gateway has just opened a record for the very same payment: possible where they do not share locks. */
function isItself(order: PaidRequest, { key }: PaymentRecord): boolean {
  return key === order.key;
}
