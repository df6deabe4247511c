import { toCells } from "../../../../../shared/contract/cells.ts";
import type { Handler } from "../../../../../shared/contract/endpoint.ts";
import { notFoundError } from "../../../../../shared/service/handlers.ts";
import { totalApr } from "../../../../metrics/v2-apr.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { rewardTokens } from "../../../../views/v2-facts.ts";
import { v2PoolView } from "../../../../views/v2-pool.ts";
import { endpoint } from "./pool.endpoint.ts";

export function dexaV2PoolHandler({ pools, chains }: ServeDeps): Handler<typeof endpoint> {
  const view = v2PoolView(rewardTokens(chains));
  return async (params, { signal }) => {
    const key = { chainId: params.chain_id, poolAddress: params.pool_address, family: "dexa" };
    const found = await pools.readAsOf(view, key, { asOf: params, signal });
    if (found === undefined) throw notFoundError(endpoint, params);
    const days = params.apr_days_annualized;
    const { swapFeeAprs, ...row } = found.row;
    const swapFeeApr = swapFeeAprs[days - 1] ?? null;
    const aprs = {
      swapFeeApr,
      totalApr: totalApr(swapFeeApr, row.rewardApr),
      aprDaysAnnualized: days,
    };
    return { rows: [toCells(endpoint, { ...row, ...aprs })], version: found.version };
  };
}
