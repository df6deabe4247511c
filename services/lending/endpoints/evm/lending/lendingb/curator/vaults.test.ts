import { describeCuratorVaults } from "../../../../../test/list-suites.ts";
import { endpoint } from "./vaults.endpoint.ts";
import { lendingbCuratorVaultsHandler } from "./vaults.handler.ts";

describeCuratorVaults({ endpoint, createHandler: lendingbCuratorVaultsHandler, protocol: "euler-v2" });
