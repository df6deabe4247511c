import type { Endpoint } from "../../../services/shared/contract/endpoint.ts";
import { ConfigError } from "../../../services/shared/settings/settings.ts";

/**
 * Returns the endpoints with this gateway's prices: `prices` has USD per request in decimal digits by path, which override
 * the declared ones; 0 takes an endpoint off sale. Throws ConfigError for a path that no endpoint has.
 */
export function applyPrices(
  catalogue: readonly Endpoint[],
  prices: ReadonlyMap<string, string>,
): readonly Endpoint[] {
  const unknown = [...prices.keys()].find((path) => !catalogue.some((endpoint) => endpoint.path === path));
  if (unknown !== undefined) {
    throw new ConfigError([`Cannot read X402_PRICES: there is no endpoint ${JSON.stringify(unknown)}`]);
  }
  return catalogue.map((endpoint) => {
    const price = prices.get(endpoint.path);
    if (price === undefined) return endpoint;
    const { priceUsd: _declared, ...rest } = endpoint;
    return Number(price) === 0 ? rest : { ...rest, priceUsd: Number(price) };
  });
}
