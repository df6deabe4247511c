import type { Endpoint } from "../../../services/shared/contract/endpoint.ts";
import { ConfigError } from "../../../services/shared/settings/settings.ts";

/**
 * The endpoints with the prices that are asked here: `prices` holds USD a request in decimal digits by path, over what
 * the declarations say; 0 takes an endpoint off sale. Throws ConfigError for a path that nobody declares.
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
