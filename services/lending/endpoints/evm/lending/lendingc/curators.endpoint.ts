import { asOfParams, checkAsOf } from "../../../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../../../shared/contract/define.ts";
import { evmPage } from "../../../../../shared/contract/param.ts";
import { curatorListColumns } from "../../../curator-columns.ts";
import { listFilters } from "../../../params.ts";

export const endpoint = defineEndpoint({
  family: "lending",
  path: "/evm/lending/lendingc/curators",
  summary: "lendingc curators",
  description: "The curators of MetaMorpho vaults, each with its listed vaults and those it has made.",
  mediaType: "application/vnd.service.table.v0.0.1+json",
  body: "array",
  params: { ...listFilters("morpho-v1"), ...evmPage(), ...asOfParams },
  columns: curatorListColumns,
  rowOrder: "totalTvlUsd descending (unpriced last), then curatorAddress ascending",
  whenAbsent: "empty",
  live: { kind: "list", key: ["curatorAddress"] },
  check: checkAsOf,
});
