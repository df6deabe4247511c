import { ServiceError } from "../../../services/shared/errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Lock } from "../ledger/locks.ts";
import type { PaymentRecord } from "../ledger/payment-record.ts";
import type { PaymentMetrics } from "../payment-metrics.ts";
import type { Settlement } from "../settlement/settlement.ts";
import type { PaidDelivery } from "./deliver-paid.ts";
import { type PaidRequest, runOrUnavailable } from "./paid-request.ts";
import { settlementPending } from "./payment-errors.ts";

interface ReplayDeps {
  readonly ledger: Ledger;
  readonly settlement: Settlement;
  readonly paidDelivery: PaidDelivery;
  readonly metrics: PaymentMetrics;
  /** Waits for a lock within the request's deadline; throws settlementPending. */
  readonly acquireInTime: (request: PaidRequest, name: string) => Promise<Lock>;
}

/**
 * Responds to a signed payment from an earlier payment of the same payer: one with the same payment-identifier, or one for
 * the same resource whose response did not arrive (a crash, an outage, a client that disconnected). `serve` returns false if
 * there is none: only then may the new payment be charged.
 */
export interface Replay {
  serve(request: PaidRequest): Promise<boolean>;
  /** Whether the ledger has one. Checks only the form and the terms of the new payment. */
  exists(request: PaidRequest): Promise<boolean>;
}

export function createReplay(deps: ReplayDeps): Replay {
  const { ledger, settlement, paidDelivery, metrics, acquireInTime } = deps;

  /** Makes an earlier payment settled or void: it must not stay open while another one is charged. */
  const settleOrVoid = async (request: PaidRequest, found: PaymentRecord): Promise<PaymentRecord> => {
    const record = await runOrUnavailable(() => settlement.resolve(found));
    if (record.state !== "open") return record;
    const again = await settlement.settle(record);
    if (again.record.state !== "open") return again.record;
    metrics.recordOutcome(request.context, "pending");
    throw settlementPending(
      "An earlier payment for this request is still being settled; this one was not charged.",
    );
  };

  const replayIdentified = async (request: PaidRequest, identifier: string): Promise<boolean> => {
    const { from } = request.payment.authorization;
    const same = await runOrUnavailable(() => ledger.findByIdentifier(from, identifier));
    if (same === undefined || isSamePayment(request, same)) return false;
    if (same.resource !== request.resourceUrl) {
      throw new ServiceError(
        "bad_request",
        "The payment-identifier has been used for another request: use a new one.",
      );
    }
    const lock = await acquireInTime(request, same.key);
    try {
      const found = await runOrUnavailable(() => ledger.find(same.key));
      if (found === undefined || found.state === "void") return false;
      const record = await settleOrVoid(request, found);
      const isStored =
        record.deliveredAt === null ||
        (await runOrUnavailable(() => ledger.findResponse(record))) !== undefined;
      if (record.state === "void" || !isStored) return false;
      await paidDelivery.deliver(request, record, "identified");
      return true;
    } finally {
      await lock.release();
    }
  };

  const replayOwed = async (request: PaidRequest, { key }: PaymentRecord): Promise<boolean> => {
    // Waits for one in progress: its client may have disconnected and be repeating the request here.
    const lock = await acquireInTime(request, key);
    try {
      await paidDelivery.refresh(request);
      const found = await runOrUnavailable(() => ledger.find(key));
      if (found === undefined || found.deliveredAt !== null || found.state === "void") return false;
      const record = await settleOrVoid(request, found);
      if (record.state === "void") return false;
      await paidDelivery.deliver(request, record, "owed");
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
    async serve(request) {
      const { identifier } = request.payment;
      if (identifier !== undefined && (await replayIdentified(request, identifier))) return true;
      await paidDelivery.refresh(request);
      for (const owed of await findOwed(request)) {
        if (await replayOwed(request, owed)) return true;
      }
      return false;
    },
    async exists(request) {
      const { identifier, authorization } = request.payment;
      await paidDelivery.refresh(request);
      if ((await findOwed(request)).length > 0) return true;
      if (identifier === undefined) return false;
      const same = await runOrUnavailable(() => ledger.findByIdentifier(authorization.from, identifier));
      return same !== undefined && !isSamePayment(request, same);
    },
  };
}

/** Another gateway may have just opened a record for this very payment if they share no locks. */
function isSamePayment(request: PaidRequest, { key }: PaymentRecord): boolean {
  return key === request.key;
}
