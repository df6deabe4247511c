import type { Cell } from "../../../services/shared/contract/column.ts";
import type { Endpoint } from "../../../services/shared/contract/endpoint.ts";
import { type Answer, type NamedRow, namedRows } from "../asking.ts";
import { toQueryValue } from "../tools/arguments.ts";
import { type Arguments, ToolArgumentError } from "../tools/tool.ts";

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
const SUPPLY_COLUMNS: Readonly<Record<string, string>> = {
  "/evm/lending/lendinga/v3/pools": "poolAddress",
  "/evm/lending/lendingb/v2/vaults": "vaultAddress",
  "/evm/lending/lendingc/v1/vaults": "vaultAddress",
};

export function findSupplyLists(find: FindEndpoint): Endpoint[] {
  return Object.keys(SUPPLY_COLUMNS).map(find);
}

/** Rows of a supply list, each with the address to supply at as `address`. */
export function supplyRows(answer: Answer): (NamedRow & { readonly address: Cell })[] {
  const column = SUPPLY_COLUMNS[answer.endpoint.path] as string;
  return namedRows(answer).map((row) => ({ ...row, address: row[column] as Cell }));
}

const DEFAULT_CHAIN = 8453;

/** The argument of composites that take a chain. */
export const CHAIN_ARGUMENT = {
  chain_id: { type: "integer", default: DEFAULT_CHAIN, description: "8453 is Base, 1 Ethereum." },
} as const;

export function readChainId(args: Arguments): string {
  return toQueryValue("chain_id", args.chain_id) ?? String(DEFAULT_CHAIN);
}

/** Those that take the chain; throws where none of them does. */
export function listOfChain(pools: readonly Endpoint[], chainId: string): Endpoint[] {
  const taking = pools.filter(({ params }) => params.chain_id?.safeParse(chainId).success === true);
  if (taking.length === 0)
    throw new ToolArgumentError(`Cannot read chain_id: no pools of chain ${chainId} are indexed.`);
  return taking;
}
