import { describeMarkets } from "../../../../test/list-suites.ts";
import { endpoint } from "./markets.endpoint.ts";
import { lendingcMarketsHandler } from "./markets.handler.ts";

describeMarkets({ endpoint, createHandler: lendingcMarketsHandler, protocol: "morpho-v1", ltv: "lltv" });
