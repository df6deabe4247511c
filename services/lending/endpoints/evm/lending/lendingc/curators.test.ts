import { describeCurators } from "../../../../test/list-suites.ts";
import { endpoint } from "./curators.endpoint.ts";
import { lendingcCuratorsHandler } from "./curators.handler.ts";

describeCurators({ endpoint, createHandler: lendingcCuratorsHandler, protocol: "morpho-v1" });
