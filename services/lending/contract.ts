import type { Endpoint } from "../shared/contract/endpoint.ts";
import { endpoint as lendingaPools } from "./endpoints/evm/lending/lendinga/v3/pools.endpoint.ts";
import { endpoint as lendingbCuratorVaults } from "./endpoints/evm/lending/lendingb/curator/vaults.endpoint.ts";
import { endpoint as lendingbCurators } from "./endpoints/evm/lending/lendingb/curators.endpoint.ts";
import { endpoint as lendingbMarkets } from "./endpoints/evm/lending/lendingb/markets.endpoint.ts";
import { endpoint as lendingbVaultMarkets } from "./endpoints/evm/lending/lendingb/v2/vault/markets.endpoint.ts";
import { endpoint as lendingbVaults } from "./endpoints/evm/lending/lendingb/v2/vaults.endpoint.ts";
import { endpoint as lendingcCuratorVaults } from "./endpoints/evm/lending/lendingc/curator/vaults.endpoint.ts";
import { endpoint as lendingcCurators } from "./endpoints/evm/lending/lendingc/curators.endpoint.ts";
import { endpoint as lendingcMarkets } from "./endpoints/evm/lending/lendingc/markets.endpoint.ts";
import { endpoint as lendingcVaultMarkets } from "./endpoints/evm/lending/lendingc/v1/vault/markets.endpoint.ts";
import { endpoint as lendingcVaults } from "./endpoints/evm/lending/lendingc/v1/vaults.endpoint.ts";
import { endpoint as rates } from "./endpoints/evm/lending/rates.endpoint.ts";

export {
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
};

/** Every public endpoint of this service, : the specification's in its order, then our additions. */
export const endpoints: readonly Endpoint[] = [
  lendingaPools,
  lendingbCuratorVaults,
  lendingbCurators,
  lendingbMarkets,
  lendingbVaultMarkets,
  lendingbVaults,
  lendingcCuratorVaults,
  lendingcCurators,
  lendingcMarkets,
  lendingcVaultMarkets,
  lendingcVaults,
  rates,
];
