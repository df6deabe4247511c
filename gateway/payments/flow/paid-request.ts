import type { PaymentPayload } from "@x402/core/types";
import type { PaymentRecord } from "../ledger/payment-record.ts";
import type { Payment } from "../payload.ts";
import type { PricedRequest } from "./offers.ts";
import { paymentUnavailable } from "./payment-errors.ts";

/** A priced request with a payment whose form and terms are valid. */
export interface PaidRequest extends PricedRequest {
  readonly payment: Payment;
  /** Identifies the authorization, see payment-record.ts. */
  readonly key: string;
}

/** The payment as sent to the facilitator: the client's signature and authorization, all else from the declarations. A
 * client's own descriptions for catalogues are not passed on. */
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

/** Whether a record is of the same request: the same resource and signature. A resource is compared as text with its query. */
export function isSameRequest(
  { payment, resourceUrl }: PaidRequest,
  { resource, payload }: PaymentRecord,
): boolean {
  return resource === resourceUrl && payload.payload.signature === payment.signature;
}

/** Turns an outage of ledger, chain or facilitator into a 503. Only for operations before anything was charged. */
export async function runOrUnavailable<T>(
  operation: () => Promise<T>,
  message = "Payments cannot be recorded at the moment.",
): Promise<T> {
  try {
    return await operation();
  } catch (cause) {
    throw paymentUnavailable(message, cause);
  }
}
