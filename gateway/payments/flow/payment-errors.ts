import { encodePaymentRequiredHeader, encodePaymentResponseHeader } from "@x402/core/http";
import type { SettleResponse } from "@x402/core/types";
import type { Response } from "express";
import { ServiceError } from "../../../services/shared/errors.ts";
import type { PaymentRecord } from "../ledger/payment-record.ts";
import { describePaymentRequired, type PricedRequest } from "./offers.ts";

const PENDING_RETRY_SECONDS = 2;
const DOWN_RETRY_SECONDS = 5;

/** Creates the 402 with the terms of payment; sets its header. `reason` is a sentence. */
export function paymentRequired(priced: PricedRequest, reason: string): ServiceError {
  const terms = describePaymentRequired(priced, reason);
  priced.context.res.setHeader("PAYMENT-REQUIRED", encodePaymentRequiredHeader(terms));
  // In the body the field `error` is the stable code, and the reason is the message.
  const { error: _reason, ...details } = terms;
  return new ServiceError("payment_required", reason, { details });
}

/** Creates the 402 after a failed settlement, with a receipt that says so. */
export function settlementFailed(priced: PricedRequest, record: PaymentRecord, reason: string): ServiceError {
  const { payer } = record;
  setReceipt(priced.context.res, record, {
    success: false,
    errorReason: "settlement_failed",
    transaction: "",
    payer,
  });
  return paymentRequired(priced, reason);
}

/** Sets the receipt of a settled payment on the response. */
export function setSuccessReceipt(res: Response, record: PaymentRecord): void {
  const { transaction, payer, amount } = record;
  setReceipt(res, record, { success: true, transaction: transaction ?? "", payer, amount });
}

function setReceipt(res: Response, record: PaymentRecord, receipt: Omit<SettleResponse, "network">): void {
  const network = record.requirements.network;
  res.setHeader("PAYMENT-RESPONSE", encodePaymentResponseHeader({ ...receipt, network }));
}

/** Creates the 503 while the outcome of a settlement is unknown. */
export function settlementPending(what: string): ServiceError {
  return new ServiceError(
    "unavailable",
    `${what} Nothing is charged twice: send this request again, with the same payment or a new one.`,
    { retryAfterSeconds: PENDING_RETRY_SECONDS },
  );
}

/** Creates the 503 before anything was charged. */
export function paymentUnavailable(why: string, cause?: unknown): ServiceError {
  return new ServiceError("unavailable", `${why} Nothing was charged.`, {
    cause,
    retryAfterSeconds: DOWN_RETRY_SECONDS,
  });
}
