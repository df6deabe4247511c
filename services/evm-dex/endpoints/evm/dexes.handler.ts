import { toCells } from "../../../shared/contract/cells.ts";
import type { Handler } from "../../../shared/contract/endpoint.ts";
import { dexTypeOf } from "../../deployments.ts";
import type { ServeDeps } from "../../serve/deps.ts";
import { endpoint } from "./dexes.endpoint.ts";

export function dexesHandler({ chains }: ServeDeps): Handler<typeof endpoint> {
  return async ({ chain_id }) => {
    const factories = chains.find((chain) => chain.chainId === chain_id)?.factories ?? [];
    const rows = factories
      .map((factory) => ({
        chainId: chain_id,
        dexAddress: factory.address,
        dexName: factory.dexName,
        dexType: dexTypeOf(factory),
        family: factory.family,
      }))
      .sort(
        (a, b) =>
          compare(a.family, b.family) || compare(a.dexName, b.dexName) || compare(a.dexAddress, b.dexAddress),
      );
    return { rows: rows.map((row) => toCells(endpoint, row)) };
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
