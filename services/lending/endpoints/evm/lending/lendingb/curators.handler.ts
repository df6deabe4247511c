import type { Handler } from "../../../../../shared/contract/endpoint.ts";
import { answerList, type List } from "../../../../serve/answer-list.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { endpoint } from "./curators.endpoint.ts";

const LIST: List = { endpoint, protocol: "euler-v2", tableOf: (lists) => lists.curators, tvl: "totalTvlUsd" };

export function lendingbCuratorsHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return (params) => answerList(deps, LIST, { params });
}
