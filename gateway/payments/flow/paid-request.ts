import type { PaymentPayload } from "@x402/core/types";
import type { PaymentRecord } from "../ledger/payment-record.ts";
import type { Payment } from "../payload.ts";
import type { PricedRequest } from "./offers.ts";
import { paymentUnavailable } from "./payment-errors.ts";

/** An inquiry with a payment whose form and terms are right. */
export interface PaidRequest extends PricedRequest {
  readonly payment: Payment;
  /** Names the authorization, see payment-record.ts. */
  readonly key: string;
}

/** The payment as it is sent on: what the client signed, and everything else in our own words. */
export function toFacilitatorPayload({ payment, offer, resourceUrl }: PaidRequest): PaymentPayload {
  const { endpoint, requirements, extensions } = offer;
  const { authorization } = payment.payload.payload;
  return {
    x402Version: 2,
    resource: { url: resourceUrl, description: endpoint.summary, mimeType: endpoint.mediaType },
    accepted: requirements,
    payload: { signature: payment.signature, authorization },
    extensions: { bazaar: extensions.bazaar },
  };
}

/** Whether a record is of this very request: the same authorization for the same address, signed the same way. */
export function isSameRequest(
  { payment, resourceUrl }: PaidRequest,
  { resource, payload }: PaymentRecord,
): boolean {
  return resource === resourceUrl && payload.payload.signature === payment.signature;
}

/** An outage of what a sale rests on is a 503. For questions before anything was charged only. */
export async function runOrUnavailable<T>(
  question: () => Promise<T>,
  why = "Payments cannot be recorded at the moment.",
): Promise<T> {
  try {
    return await question();
  } catch (cause) {
    throw paymentUnavailable(why, cause);
  }
}
