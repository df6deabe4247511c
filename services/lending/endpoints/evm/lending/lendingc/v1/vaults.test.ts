import { describeVaults } from "../../../../../test/list-suites.ts";
import { endpoint } from "./vaults.endpoint.ts";
import { lendingcVaultsHandler } from "./vaults.handler.ts";

describeVaults({ endpoint, createHandler: lendingcVaultsHandler, protocol: "morpho-v1" });
