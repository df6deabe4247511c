import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import { sendText } from "../../services/shared/http/exchange.ts";
import type { Page } from "../request/routes.ts";
import { ICON } from "./docs-html.ts";

/** Tables need a key: nothing for crawlers. */
const ROBOTS = "User-agent: *\nDisallow: /api/\nDisallow: /evm/\nDisallow: /usage\nAllow: /\n";

/** A page that never changes. */
function fixedPage(type: string, text: string): Page {
  return (_req, res) => {
    res.setHeader("Cache-Control", "public, max-age=86400");
    sendText(res, { status: 200, type, text });
  };
}

export const robotsPage = fixedPage("text/plain; charset=utf-8", ROBOTS);
export const iconPage = fixedPage("image/svg+xml", ICON);

/**
 * What is for sale by x402, in the form that its indexers read: the address of every resource, whose 402 has the terms.
 * Without a pay-per-request host nothing is.
 */
export function describeResources(catalogue: readonly Endpoint[], payUrl: string | undefined): string {
  const sold = payUrl === undefined ? [] : catalogue.filter(({ priceUsd }) => priceUsd !== undefined);
  const resources = sold.map(({ path }) => `${payUrl?.replace(/\/$/, "")}${path}`);
  return JSON.stringify({ version: 1, resources });
}

/** GET /.well-known/x402. */
export function createResourcesPage(deps: {
  readonly catalogue: readonly Endpoint[];
  readonly payUrl?: string | undefined;
}): Page {
  const text = describeResources(deps.catalogue, deps.payUrl);
  return (_req, res) => {
    res.setHeader("Cache-Control", "public, max-age=3600");
    sendText(res, { status: 200, type: "application/json", text });
  };
}
