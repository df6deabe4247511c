import { describeCuratorVaults } from "../../../../../test/list-suites.ts";
import { endpoint } from "./vaults.endpoint.ts";
import { lendingcCuratorVaultsHandler } from "./vaults.handler.ts";

describeCuratorVaults({ endpoint, createHandler: lendingcCuratorVaultsHandler, protocol: "morpho-v1" });
