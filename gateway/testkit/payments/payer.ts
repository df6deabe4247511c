import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentPayload, PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import type { PrivateKeyAccount } from "viem/accounts";

/** A client with a wallet: the published one, nothing of it changed. */
export interface Payer {
  readonly account: PrivateKeyAccount;
  readonly address: `0x${string}`;
  /** Sends a request, pays what the 402 requires, and sends it again. */
  fetch(url: string, init?: RequestInit): Promise<Response>;
  /** Signs what an offer wants, as fetch does, and leaves the sending to the test. */
  sign(offer: PaymentRequired): Promise<PaymentPayload>;
}

export function createPayer(account: PrivateKeyAccount): Payer {
  const client = new x402Client().register("eip155:8453", new ExactEvmScheme(account));
  return {
    account,
    address: account.address,
    fetch: wrapFetchWithPayment(fetch, client),
    sign: (offer) => client.createPaymentPayload(offer),
  };
}

/** What a 402 offers, by its header. */
export async function readOffer(url: string): Promise<PaymentRequired> {
  const answer = await fetch(url);
  await answer.body?.cancel();
  return decodePaymentRequiredHeader(answer.headers.get("payment-required") ?? "");
}

/** A payment for an address, signed as the client would. */
export async function signFor(payer: Payer, url: string): Promise<PaymentPayload> {
  return payer.sign(await readOffer(url));
}

/** One request with a payment, which may be sent any number of times. */
export function fetchWith(url: string, payment: PaymentPayload, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, headers: { "PAYMENT-SIGNATURE": encodePaymentSignatureHeader(payment) } });
}

/** The receipt of an answer; undefined where it has none. */
export function receiptOf(answer: Response) {
  const header = answer.headers.get("payment-response");
  return header === null ? undefined : decodePaymentResponseHeader(header);
}
