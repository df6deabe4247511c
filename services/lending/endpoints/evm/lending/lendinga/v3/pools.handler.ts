import type { Handler } from "../../../../../../shared/contract/endpoint.ts";
import type { VaultRow } from "../../../../../protocols/rows.ts";
import { answerList, isWanted, type List } from "../../../../../serve/answer-list.ts";
import type { ServeDeps } from "../../../../../serve/deps.ts";
import { endpoint } from "./pools.endpoint.ts";

const LIST: List<VaultRow> = {
  endpoint,
  protocol: "aave-v3",
  sheetOf: (lists) => lists.vaults,
  tvl: "tvlUsd",
};

export function lendingaPoolsHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return (params) =>
    answerList(deps, LIST, {
      params,
      where: (row) =>
        isWanted(params.pool_address, row.address) &&
        isWanted(params.underlying_address, row.underlying.address) &&
        (params.borrowable !== true || row.borrowable),
    });
}
