import { toCells } from "../../../../../shared/contract/cells.ts";
import type { Handler } from "../../../../../shared/contract/endpoint.ts";
import { notFoundError } from "../../../../../shared/service/handlers.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { v3PoolView } from "../../../../views/v3-pool.ts";
import { endpoint } from "./pool.endpoint.ts";

export function dexaV3PoolHandler({ pools }: ServeDeps): Handler<typeof endpoint> {
  return async (params, { signal }) => {
    const key = { chainId: params.chain_id, poolAddress: params.pool_address, family: "dexa" };
    const found = await pools.readAsOf(v3PoolView, key, { asOf: params, signal });
    if (found === undefined) throw notFoundError(endpoint, params);
    return { rows: [toCells(endpoint, found.row)], version: found.version };
  };
}
