import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import type { Endpoint } from "../../../services/shared/contract/endpoint.ts";
import type { RequestContext } from "../../request/context.ts";
import { NETWORK } from "../network.ts";
import { declareExtensions, type Extensions } from "./discovery.ts";

/** A client's authorization is good for so long: the service's answer, the settlement and a block fit in. */
const MAX_TIMEOUT_SECONDS = 60;

/** An endpoint that is for sale. */
export interface Offer {
  readonly endpoint: Endpoint;
  readonly requirements: PaymentRequirements;
  readonly extensions: Extensions;
}

/** A request for something that is for sale. */
export interface PricedRequest {
  readonly context: RequestContext;
  readonly offer: Offer;
  /** Our public address with the path and query of the request; never made of what a client says the host is. */
  readonly resourceUrl: string;
}

/** By exact path. */
export type Offers = ReadonlyMap<string, Offer>;

/** Everything for sale among priced endpoints. */
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

/** What a client has to pay for, and how; the body and the header of a 402 carry it. */
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
