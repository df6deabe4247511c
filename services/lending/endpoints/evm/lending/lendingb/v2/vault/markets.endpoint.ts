import { asOfParams, checkAsOf } from "../../../../../../../shared/contract/as-of.ts";
import { defineEndpoint } from "../../../../../../../shared/contract/define.ts";
import { eulerVaultMarketColumns } from "../../../../../market-columns.ts";
import { oneVault } from "../../../../../params.ts";

export const endpoint = defineEndpoint({
  family: "lending",
  path: "/evm/lending/lendingb/v2/vault/markets",
  summary: "Markets of one lendingb vault",
  description:
    "Of an EVK vault its own markets, one per collateral; of an EulerEarn vault the markets of the EVK vaults it allocates to.",
  mediaType: "application/vnd.service.table.v0.0.1+json",
  body: "array",
  params: { ...oneVault("0x0a1a3b5f2041f33522c4efc754a7d096f880ee16"), ...asOfParams },
  columns: eulerVaultMarketColumns,
  rowOrder: "tvlUsd of the market (not shown) descending (unpriced last), then marketId ascending",
  whenAbsent: "not_found",
  live: { kind: "list", key: ["marketId"] },
  check: checkAsOf,
});
