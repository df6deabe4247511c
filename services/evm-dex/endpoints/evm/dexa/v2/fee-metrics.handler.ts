import { toCells } from "../../../../../shared/contract/cells.ts";
import type { Handler } from "../../../../../shared/contract/endpoint.ts";
import { notFoundError } from "../../../../../shared/service/handlers.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { v2FeeMetricsView } from "../../../../views/v2-fee-metrics.ts";
import { endpoint } from "./fee-metrics.endpoint.ts";

export function dexaFeeMetricsHandler({ pools }: ServeDeps): Handler<typeof endpoint> {
  return async (params, { signal }) => {
    const key = { chainId: params.chain_id, poolAddress: params.pool_address, family: "dexa" };
    const found = await pools.readAsOf(v2FeeMetricsView, key, { asOf: params, signal });
    if (found === undefined) throw notFoundError(endpoint, params);
    return { rows: [toCells(endpoint, found.row)], version: found.version };
  };
}
