import type { Handler } from "../../../../../../shared/contract/endpoint.ts";
import { answerList, type List } from "../../../../../serve/answer-list.ts";
import type { ServeDeps } from "../../../../../serve/deps.ts";
import { endpoint } from "./pools.endpoint.ts";

const LIST: List = { endpoint, protocol: "aave-v3", tableOf: (lists) => lists.vaults, tvl: "tvlUsd" };

export function lendingaPoolsHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return (params) =>
    answerList(deps, LIST, {
      params,
      equals: {
        poolAddress: params.pool_address,
        underlyingAddress: params.underlying_address,
        borrowable: params.borrowable || undefined,
      },
    });
}
