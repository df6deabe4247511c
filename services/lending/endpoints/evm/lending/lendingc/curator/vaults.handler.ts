import type { Handler } from "../../../../../../shared/contract/endpoint.ts";
import { answerList, type List } from "../../../../../serve/answer-list.ts";
import type { ServeDeps } from "../../../../../serve/deps.ts";
import { endpoint } from "./vaults.endpoint.ts";

const LIST: List = { endpoint, protocol: "morpho-v1", tableOf: (lists) => lists.vaults, tvl: "tvlUsd" };

export function lendingcCuratorVaultsHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return (params) =>
    answerList(deps, LIST, {
      params,
      equals: {
        curatorAddress: params.curator_address,
        isCurated: true,
        underlyingAddress: params.underlying_address,
      },
    });
}
