import { asOfParams, checkAsOf } from "../../../../../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../../../../../shared/contract/define.ts";
import { morphoVaultMarketColumns } from "../../../../../market-columns.ts";
import { oneVault } from "../../../../../params.ts";

export const endpoint = defineEndpoint({
  family: "lending",
  path: "/evm/lending/lendingc/v1/vault/markets",
  summary: "Markets of one lendingc vault",
  description: "The Morpho Blue markets a MetaMorpho vault supplies or may supply.",
  mediaType: "application/vnd.service.table.v0.0.1+json",
  body: "array",
  params: { ...oneVault("0xc1256ae5ff1cf2719d4937adb3bbccab2e00a2ca"), ...asOfParams },
  columns: morphoVaultMarketColumns,
  rowOrder: "tvlUsd of the market (not shown) descending (unpriced last), then marketId ascending",
  whenAbsent: "not_found",
  live: { kind: "list", key: ["marketId"] },
  check: checkAsOf,
});
