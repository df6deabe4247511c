import { describeVaults } from "../../../../../test/list-suites.ts";
import { endpoint } from "./vaults.endpoint.ts";
import { lendingbVaultsHandler } from "./vaults.handler.ts";

describeVaults({ endpoint, createHandler: lendingbVaultsHandler, protocol: "euler-v2" });
