import { asOfParams, checkAsOf } from "../../../../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../../../../shared/contract/define.ts";
import { vaultList } from "../../../../params.ts";
import { eulerVaultColumns } from "../../../../pool-columns.ts";

export const endpoint = defineEndpoint({
  family: "lending",
  path: "/evm/lending/lendingb/v2/vaults",
  summary: "lendingb V2 lending vaults",
  description: "EVK vaults and EulerEarn vaults.",
  mediaType: "application/vnd.service.table.v0.0.1+json",
  body: "array",
  params: { ...vaultList("euler-v2", "0x0a1a3b5f2041f33522c4efc754a7d096f880ee16"), ...asOfParams },
  columns: eulerVaultColumns,
  rowOrder: "tvlUsd descending (unpriced last), then vaultAddress ascending",
  whenAbsent: "empty",
  live: { kind: "list", key: ["vaultAddress"] },
  check: checkAsOf,
});
