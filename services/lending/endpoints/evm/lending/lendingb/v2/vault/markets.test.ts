import { describeVaultMarkets } from "../../../../../../test/list-suites.ts";
import { endpoint } from "./markets.endpoint.ts";
import { lendingbVaultMarketsHandler } from "./markets.handler.ts";

describeVaultMarkets({
  endpoint,
  createHandler: lendingbVaultMarketsHandler,
  protocol: "euler-v2",
  ltv: "ltv",
  columns: () => ({}),
});
