import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Hex } from "../../../services/shared/evm/port.ts";
import { collection, type RowOf } from "../../../services/shared/storage/collection.ts";
import type { Payment } from "../payload.ts";

/**
 * One row per authorization whose settlement was requested. It is written before the request, so that a repeated request,
 * another gateway, or this one after a restart knows what to look for on the chain.
 * - `open`     settlement was requested, its outcome is not known yet
 * - `settled`  the chain has the transfer
 * - `void`     it can never be settled: expired, or used for something else
 */
export type PaymentState = "open" | "settled" | "void";

export const paymentsCollection = collection({
  name: "payments",
  fields: {
    /** network:asset:from:nonce, which identify an authorization. */
    key: "text",
    state: "text",
    payer: "text",
    nonce: "text",
    /** What was paid for: the public URL with path and query. */
    resource: "text",
    path: "text",
    network: "text",
    asset: "text",
    payTo: "text",
    /** In the token's smallest unit, decimal digits. */
    amount: "text",
    /** Of the extension payment-identifier. */
    identifier: "text?",
    /** Sent to the facilitator, again if necessary. */
    payload: "json",
    requirements: "json",
    /** Head of the chain just before settlement was requested. */
    fromBlock: "int",
    /** Unix seconds. */
    validBefore: "int",
    transaction: "text?",
    /** The last failure, in words of the gateway. */
    reason: "text?",
    /** Session of the request that was paid, as in the access log. */
    session: "text",
    /** Unix milliseconds. */
    createdAt: "int",
    settledAt: "int?",
    /** When a client had received the whole response; null = it is still owed. */
    deliveredAt: "int?",
  },
  key: ["key"],
  indexes: [
    // Finds owed payments without scanning delivered ones.
    { fields: ["payer", "resource", "deliveredAt", "createdAt"] },
    { fields: ["payer", "identifier", "createdAt"] },
    { fields: ["state", "createdAt"] },
    { fields: ["createdAt"] },
  ],
  shardKey: ["key"],
});

/** Paid responses, apart from the payments: they are large and expire sooner. */
export const paidAnswersCollection = collection({
  name: "paid_answers",
  fields: {
    key: "text",
    /** Compressed, base64. */
    body: "text",
    headers: "json",
    /** Unix milliseconds. */
    keptUntil: "int",
  },
  key: ["key"],
  indexes: [{ fields: ["keptUntil"] }],
  shardKey: ["key"],
});

/** The janitor's progress, and when another gateway may continue it: one row. In the ledger, because gateways may share a
 * ledger without Redis. */
export const janitorRoundsCollection = collection({
  name: "payment_rounds",
  fields: {
    name: "text",
    /** Unix milliseconds. */
    takenUntil: "int",
    /** Creation and key of the last payment handled; null = start with the oldest. */
    cursorAt: "int?",
    cursorKey: "text?",
  },
  key: ["name"],
  indexes: [],
  shardKey: ["name"],
});

export type PaymentRow = RowOf<typeof paymentsCollection>;

export interface PaymentRecord
  extends Readonly<Omit<PaymentRow, "state" | "payload" | "requirements" | "transaction">> {
  readonly state: PaymentState;
  readonly payload: PaymentPayload;
  readonly requirements: PaymentRequirements;
  readonly transaction: Hex | null;
}

export function toPaymentRecord(row: PaymentRow): PaymentRecord {
  return row as PaymentRecord;
}

export function paymentKey(payment: Payment, { network, asset }: PaymentRequirements): string {
  const { from, nonce } = payment.authorization;
  return `${network}:${asset.toLowerCase()}:${from}:${nonce}`;
}
