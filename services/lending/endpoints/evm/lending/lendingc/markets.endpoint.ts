import { asOfParams, checkAsOf } from "../../../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { evmPage } from "../../../../../shared/contract/param.ts";
import { morphoMarketColumns } from "../../../market-columns.ts";
import { listFilters, pairFilters } from "../../../params.ts";

export const endpoint = defineEndpoint({
  family: "lending",
  path: "/evm/lending/lendingc/markets",
  summary: "lendingc lending markets",
  description: "The markets of Morpho Blue.",
  mediaType: "application/vnd.service.table.v0.0.1+json",
  body: "array",
  params: { ...pairFilters, ...listFilters("morpho-v1"), ...evmPage(), ...asOfParams },
  columns: morphoMarketColumns,
  rowOrder: "tvlUsd descending (unpriced last), then marketId ascending",
  whenAbsent: "empty",
  live: { kind: "list", key: ["marketId"] },
  check: checkAsOf,
});
