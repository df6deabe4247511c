import { type HandlerTable, handle } from "../shared/service/handlers.ts";
import {
  lendingaPools,
  lendingbCurators,
  lendingbCuratorVaults,
  lendingbMarkets,
  lendingbVaultMarkets,
  lendingbVaults,
  lendingcCurators,
  lendingcCuratorVaults,
  lendingcMarkets,
  lendingcVaultMarkets,
  lendingcVaults,
  rates,
} from "./contract.ts";
import { lendingaPoolsHandler } from "./endpoints/evm/lending/lendinga/v3/pools.handler.ts";
import { lendingbCuratorVaultsHandler } from "./endpoints/evm/lending/lendingb/curator/vaults.handler.ts";
import { lendingbCuratorsHandler } from "./endpoints/evm/lending/lendingb/curators.handler.ts";
import { lendingbMarketsHandler } from "./endpoints/evm/lending/lendingb/markets.handler.ts";
import { lendingbVaultMarketsHandler } from "./endpoints/evm/lending/lendingb/v2/vault/markets.handler.ts";
import { lendingbVaultsHandler } from "./endpoints/evm/lending/lendingb/v2/vaults.handler.ts";
import { lendingcCuratorVaultsHandler } from "./endpoints/evm/lending/lendingc/curator/vaults.handler.ts";
import { lendingcCuratorsHandler } from "./endpoints/evm/lending/lendingc/curators.handler.ts";
import { lendingcMarketsHandler } from "./endpoints/evm/lending/lendingc/markets.handler.ts";
import { lendingcVaultMarketsHandler } from "./endpoints/evm/lending/lendingc/v1/vault/markets.handler.ts";
import { lendingcVaultsHandler } from "./endpoints/evm/lending/lendingc/v1/vaults.handler.ts";
import { ratesHandler } from "./endpoints/evm/lending/rates.handler.ts";
import type { HistoryDeps, ServeDeps } from "./serve/deps.ts";

/** Every endpoint with its handler. */
export function createHandlers(deps: ServeDeps & HistoryDeps): HandlerTable {
  return Object.fromEntries([
    handle(lendingaPools, lendingaPoolsHandler(deps)),
    handle(lendingbCuratorVaults, lendingbCuratorVaultsHandler(deps)),
    handle(lendingbCurators, lendingbCuratorsHandler(deps)),
    handle(lendingbMarkets, lendingbMarketsHandler(deps)),
    handle(lendingbVaultMarkets, lendingbVaultMarketsHandler(deps)),
    handle(lendingbVaults, lendingbVaultsHandler(deps)),
    handle(lendingcCuratorVaults, lendingcCuratorVaultsHandler(deps)),
    handle(lendingcCurators, lendingcCuratorsHandler(deps)),
    handle(lendingcMarkets, lendingcMarketsHandler(deps)),
    handle(lendingcVaultMarkets, lendingcVaultMarketsHandler(deps)),
    handle(lendingcVaults, lendingcVaultsHandler(deps)),
    handle(rates, ratesHandler(deps)),
  ]);
}
