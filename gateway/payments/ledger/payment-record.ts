import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Hex } from "../../../services/shared/evm/port.ts";
import { collection, type RowOf } from "../../../services/shared/storage/port.ts";
import type { Payment } from "../payload.ts";

/**
 * One row per authorization whose settlement has been asked for. It is written before that, so that whoever comes next
 * (the client again, another gateway, this one after a restart) knows what to look for on the chain.
 * - `open`     settlement was asked for, and nobody has seen yet what came of it
 * - `settled`  the chain has the transfer
 * - `void`     it can never be settled any more: expired, or used up by something else
 */
export type PaymentState = "open" | "settled" | "void";

export const paymentsCollection = collection({
  name: "payments",
  fields: {
    /** network:asset:from:nonce, all that makes an authorization what it is. */
    key: "text",
    state: "text",
    payer: "text",
    nonce: "text",
    /** What was paid for: our public address with path and query. */
    resource: "text",
    path: "text",
    network: "text",
    asset: "text",
    payTo: "text",
    /** In the token's smallest unit, decimal digits. */
    amount: "text",
    /** Of the extension payment-identifier. */
    identifier: "text?",
    /** What is sent to the facilitator, again if need be. */
    payload: "json",
    requirements: "json",
    /** Head of the chain just before settlement was asked for. */
    fromBlock: "int",
    /** Unix seconds. */
    validBefore: "int",
    transaction: "text?",
    /** The last thing that went wrong, in our own words. */
    reason: "text?",
    /** Request that asked for the settlement, as in the access log. */
    session: "text",
    /** Unix milliseconds. */
    createdAt: "int",
    settledAt: "int?",
    /** When a client had the whole answer; null = what was paid is still owed. */
    deliveredAt: "int?",
  },
  key: ["key"],
  indexes: [
    // What is owed is found without passing over what has been delivered.
    { fields: ["payer", "resource", "deliveredAt", "createdAt"] },
    { fields: ["payer", "identifier", "createdAt"] },
    { fields: ["state", "createdAt"] },
    { fields: ["createdAt"] },
  ],
  shardKey: ["key"],
});

/** Answers that were paid for, apart from the payments: they are large and go sooner. */
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

/** How far the open payments have been looked after, and by when another gateway may go on: one row. */
export const janitorRoundsCollection = collection({
  name: "payment_rounds",
  fields: {
    name: "text",
    /** Unix milliseconds. */
    takenUntil: "int",
    /** Creation and key of the last payment that was looked at; null = from the oldest one on. */
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
