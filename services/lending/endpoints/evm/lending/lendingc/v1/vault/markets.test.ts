import { describeVaultMarkets } from "../../../../../../test/list-suites.ts";
import { endpoint } from "./markets.endpoint.ts";
import { lendingcVaultMarketsHandler } from "./markets.handler.ts";

describeVaultMarkets({
  endpoint,
  createHandler: lendingcVaultMarketsHandler,
  protocol: "morpho-v1",
  ltv: "lltv",
  columns: (usd) => ({ allocationUsd: usd, allocationShare: 0.7 }),
});
