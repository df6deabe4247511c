import { asOfParams, checkAsOf } from "../../../../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../../../../shared/contract/define.ts";
import { evmAddress, evmPage } from "../../../../../../shared/contract/param.ts";
import { borrowableFilter, listFilters, underlyingFilter } from "../../../../params.ts";
import { aavePoolColumns } from "../../../../pool-columns.ts";

export const endpoint = defineEndpoint({
  family: "lending",
  path: "/evm/lending/lendinga/v3/pools",
  summary: "lendinga V3 lending pools",
  description: "One row per reserve of each Aave v3 market.",
  mediaType: "application/vnd.service.table.v0.0.1+json",
  body: "array",
  params: {
    pool_address: evmAddress({
      description: "Only reserves of this Aave Pool contract.",
      example: "0xa238dd80c259a72e81d7e4664a9801593f98d1c5",
    }).optional(),
    ...underlyingFilter,
    ...listFilters("aave-v3"),
    ...borrowableFilter,
    ...evmPage(),
    ...asOfParams,
  },
  columns: aavePoolColumns,
  rowOrder: "tvlUsd descending (unpriced last), then poolAddress, underlyingAddress ascending",
  whenAbsent: "empty",
  live: { kind: "list", key: ["poolAddress", "underlyingAddress"] },
  check: checkAsOf,
});
