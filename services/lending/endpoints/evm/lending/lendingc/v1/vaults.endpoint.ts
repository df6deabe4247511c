import { asOfParams, checkAsOf } from "../../../../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../../../../shared/contract/define.ts";
import { vaultList } from "../../../../params.ts";
import { morphoVaultColumns } from "../../../../pool-columns.ts";

export const endpoint = defineEndpoint({
  family: "lending",
  path: "/evm/lending/lendingc/v1/vaults",
  summary: "lendingc V1 lending vaults",
  description: "MetaMorpho v1 vaults.",
  mediaType: "application/vnd.service.table.v0.0.1+json",
  body: "array",
  params: { ...vaultList("morpho-v1", "0xc1256ae5ff1cf2719d4937adb3bbccab2e00a2ca"), ...asOfParams },
  columns: morphoVaultColumns,
  rowOrder: "tvlUsd descending (unpriced last), then vaultAddress ascending",
  whenAbsent: "empty",
  live: { kind: "list", key: ["vaultAddress"] },
  check: checkAsOf,
});
