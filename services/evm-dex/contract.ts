import type { Endpoint } from "../shared/contract/endpoint.ts";
import { endpoint as chains } from "./endpoints/evm/chains.endpoint.ts";
import { endpoint as clonesPool } from "./endpoints/evm/clones/v3/pool.endpoint.ts";
import { endpoint as clonesPools } from "./endpoints/evm/clones/v3/pools.endpoint.ts";
import { endpoint as dexaFeeMetrics } from "./endpoints/evm/dexa/v2/fee-metrics.endpoint.ts";
import { endpoint as dexaPool } from "./endpoints/evm/dexa/v2/pool.endpoint.ts";
import { endpoint as dexaPoolVolume } from "./endpoints/evm/dexa/v2/pool-volume.endpoint.ts";
import { endpoint as dexaPools } from "./endpoints/evm/dexa/v2/pools.endpoint.ts";
import { endpoint as dexaProviderSummary } from "./endpoints/evm/dexa/v2/provider-summary.endpoint.ts";
import { endpoint as dexaV3Pool } from "./endpoints/evm/dexa/v3/pool.endpoint.ts";
import { endpoint as dexbPool } from "./endpoints/evm/dexb/v3/pool.endpoint.ts";
import { endpoint as dexbPools } from "./endpoints/evm/dexb/v3/pools.endpoint.ts";
import { endpoint as dexes } from "./endpoints/evm/dexes.endpoint.ts";
import { endpoint as ohlcvPool } from "./endpoints/evm/ohlcv/pool.endpoint.ts";
import { endpoint as ohlcvToken } from "./endpoints/evm/ohlcv/token.endpoint.ts";
import { endpoint as prices } from "./endpoints/evm/prices.endpoint.ts";

export {
  chains,
  clonesPool,
  clonesPools,
  dexaFeeMetrics,
  dexaPool,
  dexaPools,
  dexaPoolVolume,
  dexaProviderSummary,
  dexaV3Pool,
  dexbPool,
  dexbPools,
  dexes,
  ohlcvPool,
  ohlcvToken,
  prices,
};

/** Every public endpoint of this service: the specification's in its order, then our additions. */
export const endpoints: readonly Endpoint[] = [
  dexaFeeMetrics,
  dexaPool,
  dexaPoolVolume,
  dexaPools,
  dexaProviderSummary,
  dexaV3Pool,
  dexbPool,
  dexbPools,
  chains,
  clonesPool,
  clonesPools,
  dexes,
  prices,
  ohlcvPool,
  ohlcvToken,
];
