import { asOfParams, checkAsOf } from "../../../../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../../../../shared/contract/define.ts";
import { curatorVaults } from "../../../../params.ts";
import { eulerCuratorVaultColumns } from "../../../../pool-columns.ts";

export const endpoint = defineEndpoint({
  family: "lending",
  path: "/evm/lending/lendingb/curator/vaults",
  summary: "lendingb vaults of one curator",
  description:
    "The EVK and EulerEarn vaults of a curator. A vault that only names the curator is not its: see vaultCount of the curators.",
  mediaType: "application/vnd.service.table.v0.0.1+json",
  body: "array",
  params: { ...curatorVaults("euler-v2", "0x1e13b0847808045854ddd908f2d770dc902dcfb8"), ...asOfParams },
  columns: eulerCuratorVaultColumns,
  rowOrder: "tvlUsd descending (unpriced last), then poolAddress ascending",
  whenAbsent: "empty",
  live: { kind: "list", key: ["poolAddress"] },
  check: checkAsOf,
});
