import { describeCurators } from "../../../../test/list-suites.ts";
import { endpoint } from "./curators.endpoint.ts";
import { lendingbCuratorsHandler } from "./curators.handler.ts";

describeCurators({ endpoint, createHandler: lendingbCuratorsHandler, protocol: "euler-v2" });
