import type { Handler } from "../../../../../shared/contract/endpoint.ts";
import type { ServeDeps } from "../../../../serve/deps.ts";
import { answerPoolTransactions } from "../../../../serve/lists/pool-transactions.ts";
import { endpoint } from "./pool-transactions-time-bounded.endpoint.ts";

export function poolTransactionsTimeBoundedHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return (params, { signal }) => answerPoolTransactions(deps, { endpoint, params, signal });
}
