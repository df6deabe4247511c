import type { Endpoint } from "../../../services/shared/contract/endpoint.ts";

/** Endpoints by path; throws for one that is not declared, at the start. */
export type FindEndpoint = (path: string) => Endpoint;

export function findIn(catalogue: readonly Endpoint[]): FindEndpoint {
  const byPath = new Map(catalogue.map((endpoint) => [endpoint.path, endpoint]));
  return (path) => {
    const endpoint = byPath.get(path);
    if (endpoint === undefined) throw new Error(`Cannot find ${path}: no endpoint of that path is declared`);
    return endpoint;
  };
}

/** Lists of what can be supplied to, one a protocol, with the column of the address to supply at. */
export const SUPPLY_LISTS = [
  { path: "/evm/lending/lendinga/v3/pools", address: "poolAddress" },
  { path: "/evm/lending/lendingb/v2/vaults", address: "vaultAddress" },
  { path: "/evm/lending/lendingc/v1/vaults", address: "vaultAddress" },
] as const;

/** The argument of composites that take a chain. */
export const CHAIN_ARGUMENT = {
  chain_id: { type: "integer", default: 8453, description: "8453 is Base, 1 Ethereum." },
} as const;
