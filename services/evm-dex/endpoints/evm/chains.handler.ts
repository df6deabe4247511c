import { toCells } from "../../../shared/contract/cells.ts";
import type { Handler } from "../../../shared/contract/endpoint.ts";
import type { ServeDeps } from "../../serve/deps.ts";
import { endpoint } from "./chains.endpoint.ts";

export function chainsHandler({ chains }: ServeDeps): Handler<typeof endpoint> {
  const rows = [...chains]
    .sort((a, b) => a.chainId - b.chainId)
    .map((chain) => toCells(endpoint, { id: chain.chainId, name: chain.name }));
  return async () => ({ rows });
}
