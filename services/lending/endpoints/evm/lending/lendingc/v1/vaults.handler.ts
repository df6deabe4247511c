import type { Handler } from "../../../../../../shared/contract/endpoint.ts";
import type { VaultRow } from "../../../../../protocols/rows.ts";
import { answerList, isWanted, type List } from "../../../../../serve/answer-list.ts";
import type { ServeDeps } from "../../../../../serve/deps.ts";
import { endpoint } from "./vaults.endpoint.ts";

const LIST: List<VaultRow> = {
  endpoint,
  protocol: "morpho-v1",
  sheetOf: (lists) => lists.vaults,
  tvl: "tvlUsd",
};

export function lendingcVaultsHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return (params) =>
    answerList(deps, LIST, {
      params,
      where: (row) =>
        isWanted(params.vault_address, row.address) &&
        isWanted(params.underlying_address, row.underlying.address) &&
        (params.borrowable !== true || row.borrowable),
    });
}
