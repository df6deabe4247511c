import { asOfParams, checkAsOf } from "../../../../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../../../../shared/contract/define.ts";
import { curatorVaults } from "../../../../params.ts";
import { morphoCuratorVaultColumns } from "../../../../pool-columns.ts";

export const endpoint = defineEndpoint({
  family: "lending",
  path: "/evm/lending/lendingc/curator/vaults",
  summary: "lendingc vaults of one curator",
  description:
    "The MetaMorpho vaults of a curator. A vault that only names the curator is not its: see vaultCount of the curators.",
  mediaType: "application/vnd.service.table.v0.0.1+json",
  body: "array",
  params: { ...curatorVaults("morpho-v1", "0x9e33faae38ff641094fa68c65c2ce600b3410585"), ...asOfParams },
  columns: morphoCuratorVaultColumns,
  rowOrder: "tvlUsd descending (unpriced last), then poolAddress ascending",
  whenAbsent: "empty",
  live: { kind: "list", key: ["poolAddress"] },
  check: checkAsOf,
});
