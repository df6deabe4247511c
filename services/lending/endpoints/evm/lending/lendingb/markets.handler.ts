import type { Handler } from "../../../../../shared/contract/endpoint.ts";
import { answerList, type List } from "../../../../serve/answer-list.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { endpoint } from "./markets.endpoint.ts";

const LIST: List = { endpoint, protocol: "euler-v2", tableOf: (lists) => lists.markets, tvl: "tvlUsd" };

export function lendingbMarketsHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return (params) =>
    answerList(deps, LIST, {
      params,
      equals: {
        loanAddress: params.loan_address,
        collateralAddress: params.collateral_address,
      },
    });
}
