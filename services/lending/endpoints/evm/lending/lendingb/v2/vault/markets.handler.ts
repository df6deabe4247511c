import type { Handler } from "../../../../../../../shared/contract/endpoint.ts";
import { answerVaultMarkets } from "../../../../../../serve/answer-vault-markets.ts";
import type { ServeDeps } from "../../../../../../serve/deps.ts";
import { endpoint } from "./markets.endpoint.ts";

export function lendingbVaultMarketsHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return (params) => answerVaultMarkets(deps, { endpoint, protocol: "euler-v2" }, params);
}
