import { type HandlerTable, handle } from "../shared/service/handlers.ts";
import {
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
} from "./contract.ts";
import { chainsHandler } from "./endpoints/evm/chains.handler.ts";
import { clonesPoolHandler } from "./endpoints/evm/clones/v3/pool.handler.ts";
import { clonesPoolsHandler } from "./endpoints/evm/clones/v3/pools.handler.ts";
import { dexaFeeMetricsHandler } from "./endpoints/evm/dexa/v2/fee-metrics.handler.ts";
import { dexaV2PoolHandler } from "./endpoints/evm/dexa/v2/pool.handler.ts";
import { dexaPoolVolumeHandler } from "./endpoints/evm/dexa/v2/pool-volume.handler.ts";
import { dexaPoolsHandler } from "./endpoints/evm/dexa/v2/pools.handler.ts";
import { dexaProviderSummaryHandler } from "./endpoints/evm/dexa/v2/provider-summary.handler.ts";
import { dexaV3PoolHandler } from "./endpoints/evm/dexa/v3/pool.handler.ts";
import { dexbPoolHandler } from "./endpoints/evm/dexb/v3/pool.handler.ts";
import { dexbPoolsHandler } from "./endpoints/evm/dexb/v3/pools.handler.ts";
import { dexesHandler } from "./endpoints/evm/dexes.handler.ts";
import { ohlcvPoolHandler } from "./endpoints/evm/ohlcv/pool.handler.ts";
import { ohlcvTokenHandler } from "./endpoints/evm/ohlcv/token.handler.ts";
import { pricesHandler } from "./endpoints/evm/prices.handler.ts";
import type { ServeDeps } from "./serve/deps.ts";

/** Every endpoint with its handler. */
export function createHandlers(deps: ServeDeps): HandlerTable {
  return Object.fromEntries([
    handle(chains, chainsHandler(deps)),
    handle(dexes, dexesHandler(deps)),
    handle(dexaFeeMetrics, dexaFeeMetricsHandler(deps)),
    handle(dexaPool, dexaV2PoolHandler(deps)),
    handle(dexaPoolVolume, dexaPoolVolumeHandler(deps)),
    handle(dexaPools, dexaPoolsHandler(deps)),
    handle(dexaProviderSummary, dexaProviderSummaryHandler(deps)),
    handle(dexaV3Pool, dexaV3PoolHandler(deps)),
    handle(dexbPool, dexbPoolHandler(deps)),
    handle(dexbPools, dexbPoolsHandler(deps)),
    handle(clonesPool, clonesPoolHandler(deps)),
    handle(clonesPools, clonesPoolsHandler(deps)),
    handle(prices, pricesHandler(deps)),
    handle(ohlcvPool, ohlcvPoolHandler(deps)),
    handle(ohlcvToken, ohlcvTokenHandler(deps)),
  ]);
}
