import type { Handler } from "../../../../../shared/contract/endpoint.ts";
import type { MarketRow } from "../../../../protocols/rows.ts";
import { answerList, isWanted, type List } from "../../../../serve/answer-list.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { endpoint } from "./markets.endpoint.ts";

const LIST: List<MarketRow> = {
  endpoint,
  protocol: "morpho-v1",
  sheetOf: (lists) => lists.markets,
  tvl: "tvlUsd",
};

export function lendingcMarketsHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return (params) =>
    answerList(deps, LIST, {
      params,
      where: (row) =>
        isWanted(params.loan_address, row.loan.address) &&
        isWanted(params.collateral_address, row.collateral.address),
    });
}
