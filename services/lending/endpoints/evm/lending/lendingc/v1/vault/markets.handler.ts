import type { Handler } from "../../../../../../../shared/contract/endpoint.ts";
import { answerVaultMarkets } from "../../../../../../serve/answer-vault-markets.ts";
import type { ServeDeps } from "../../../../../../serve/deps.ts";
import { endpoint } from "./markets.endpoint.ts";

export function lendingcVaultMarketsHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return (params) => answerVaultMarkets(deps, { endpoint, protocol: "morpho-v1" }, params);
}
