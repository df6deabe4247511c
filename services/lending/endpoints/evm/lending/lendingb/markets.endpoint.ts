import { asOfParams, checkAsOf } from "../../../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { evmPage } from "../../../../../shared/contract/param.ts";
import { eulerMarketColumns } from "../../../market-columns.ts";
import { listFilters, pairFilters } from "../../../params.ts";

export const endpoint = defineEndpoint({
  family: "lending",
  path: "/evm/lending/lendingb/markets",
  summary: "lendingb lending markets",
  description: "One row per pair of an EVK vault that lends and a collateral vault it accepts.",
  mediaType: "application/vnd.service.table.v0.0.1+json",
  body: "array",
  params: { ...pairFilters, ...listFilters("euler-v2"), ...evmPage(), ...asOfParams },
  columns: eulerMarketColumns,
  rowOrder: "tvlUsd descending (unpriced last), then marketId ascending",
  whenAbsent: "empty",
  live: { kind: "list", key: ["marketId"] },
  check: checkAsOf,
});
