import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import type { Endpoint } from "../../../services/shared/contract/endpoint.ts";
import type { RequestContext } from "../../request/context.ts";
import { NETWORK } from "../network.ts";
import { declareExtensions, type Extensions } from "./discovery.ts";

/** Validity of a client's authorization: long enough for the service's response, the settlement and a block. */
const MAX_TIMEOUT_SECONDS = 60;

/** An endpoint with a price. */
export interface Offer {
  readonly endpoint: Endpoint;
  readonly requirements: PaymentRequirements;
  readonly extensions: Extensions;
}

/** A request for an endpoint with a price. */
export interface PricedRequest {
  readonly context: RequestContext;
  readonly offer: Offer;
  /** What is paid for (resource.ts). */
  readonly resourceUrl: string;
}

/** By exact path. */
export type Offers = ReadonlyMap<string, Offer>;

/** Creates the offers of the endpoints that have a price. */
export async function createOffers(priced: readonly Endpoint[], payTo: string): Promise<Offers> {
  const offers = new Map<string, Offer>();
  const scheme = new ExactEvmScheme();
  for (const endpoint of priced) {
    if (endpoint.priceUsd === undefined) continue;
    const { amount, asset, extra = {} } = await scheme.parsePrice(endpoint.priceUsd, NETWORK);
    if (amount === "0") throw new Error(`Cannot sell ${endpoint.path}: ${endpoint.priceUsd} USD is nothing`);
    const requirements = {
      scheme: "exact",
      network: NETWORK,
      amount,
      asset,
      payTo,
      maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
      extra,
    };
    offers.set(endpoint.path, { endpoint, requirements, extensions: declareExtensions(endpoint) });
  }
  return offers;
}

/** The terms of payment, for the body and the header of a 402. */
export function describePaymentRequired(
  { offer, resourceUrl }: Pick<PricedRequest, "offer" | "resourceUrl">,
  reason: string,
): PaymentRequired {
  const { summary, mediaType, family } = offer.endpoint;
  return {
    x402Version: 2,
    error: reason,
    resource: {
      url: resourceUrl,
      description: summary,
      mimeType: mediaType,
      serviceName: "chaintables",
      tags: [family],
    },
    accepts: [offer.requirements],
    extensions: offer.extensions,
  };
}
