import type { Handler } from "../../../../../../shared/contract/endpoint.ts";
import type { VaultRow } from "../../../../../protocols/rows.ts";
import { answerList, isWanted, type List } from "../../../../../serve/answer-list.ts";
import type { ServeDeps } from "../../../../../serve/deps.ts";
import { endpoint } from "./vaults.endpoint.ts";

const LIST: List<VaultRow> = {
  endpoint,
  protocol: "euler-v2",
  sheetOf: (lists) => lists.vaults,
  tvl: "tvlUsd",
};

export function lendingbCuratorVaultsHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return (params) =>
    answerList(deps, LIST, {
      params,
      where: (row) =>
        row.curator === params.curator_address && isWanted(params.underlying_address, row.underlying.address),
    });
}
