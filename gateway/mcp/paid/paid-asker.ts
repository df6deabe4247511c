import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  encodePaymentSignatureHeader,
} from "@x402/core/http";
import { AskError, type Asker, requestTable, toAnswer, toAskError } from "../asking.ts";
import { AnswerAsItCame, ToolArgumentError } from "../tools/tool.ts";
import type { InnerHost } from "./inner-host.ts";

/** Keys of x402's transport over MCP, version 2. */
export const PAYMENT_META = "x402/payment";
export const RECEIPT_META = "x402/payment-response";
/** Beside a URL of 24 KiB within a head of 48 (MAX_HEAD_BYTES). */
const MAX_PAYMENT_CHARACTERS = 12_000;

/**
 * Asks the pay-per-request host with the payment of a call (`_meta` of the request): what is checked, settled and stored is
 * what a GET with this payment is. A 402 becomes a tool error with the terms, the receipt goes into the result's `_meta`.
 */
export function createPaidAsker(
  innerHost: InnerHost,
  {
    clientAddress,
    meta,
  }: { readonly clientAddress: string; readonly meta: Readonly<Record<string, unknown>> },
): Asker {
  let receipt: unknown;
  return {
    async ask(endpoint, query, signal) {
      const payment = paymentHeader(meta[PAYMENT_META]);
      const { baseUrl, headers } = await innerHost.open(clientAddress);
      const { response, body } = await requestTable(baseUrl, {
        ...{ endpoint, query, signal },
        headers: { ...headers, ...payment },
      });
      const sent = response.headers.get("payment-response");
      if (sent !== null) receipt = decodePaymentResponseHeader(sent);
      if (response.status === 402) throw paymentRequired(response, receipt);
      if (response.status !== 200) throw toAskError(response, body);
      try {
        return toAnswer(endpoint, response.headers, body);
      } catch (cause) {
        throw new AnswerAsItCame(JSON.stringify(body), { cause });
      }
    },
    meta: () => (receipt === undefined ? undefined : { [RECEIPT_META]: receipt }),
  };
}

function paymentHeader(payment: unknown): Record<string, string> {
  if (payment === undefined) return {};
  if (typeof payment !== "object" || payment === null || Array.isArray(payment))
    throw new ToolArgumentError(`_meta["${PAYMENT_META}"] must be a payment of x402: an object.`);
  const header = encodePaymentSignatureHeader(payment as Parameters<typeof encodePaymentSignatureHeader>[0]);
  if (header.length > MAX_PAYMENT_CHARACTERS)
    throw new ToolArgumentError(
      `_meta["${PAYMENT_META}"] has ${header.length} characters in base64, and may have ${MAX_PAYMENT_CHARACTERS}.`,
    );
  return { "PAYMENT-SIGNATURE": header };
}

/** The terms, as programs read them; after a settlement that failed also its receipt. */
function paymentRequired({ headers }: Response, receipt: unknown): AskError {
  const terms = decodePaymentRequiredHeader(headers.get("payment-required") ?? "");
  const structured = { ...terms, ...(receipt === undefined ? {} : { [RECEIPT_META]: receipt }) };
  return new AskError("payment_required", terms.error ?? "A payment is required.", structured);
}
