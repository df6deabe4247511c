import { describeMarkets } from "../../../../test/list-suites.ts";
import { endpoint } from "./markets.endpoint.ts";
import { lendingbMarketsHandler } from "./markets.handler.ts";

describeMarkets({ endpoint, createHandler: lendingbMarketsHandler, protocol: "euler-v2", ltv: "ltv" });
