import type { Hex } from "../../../shared/evm/port.ts";
import { type LendingProtocol, UnreadableEntity } from "../protocol.ts";
import { AAVE_TOPICS, affectedAaveEntities } from "./affected-entities.ts";
import { ZERO_ADDRESS } from "./contracts.ts";
import { parseAaveDeployment } from "./deployment.ts";
import { readMarket } from "./read-market.ts";
import { readReserve } from "./read-reserve.ts";
import { readSentinel } from "./read-sentinel.ts";
import { reserveRow } from "./rows.ts";
import {
  type AaveDeployment,
  MARKET,
  type MarketState,
  marketRef,
  RESERVE,
  type ReserveState,
  reserveRef,
  SENTINEL,
  type SentinelState,
  sentinelRef,
} from "./state.ts";

/**
 * Aave v3, v3.0 to v3.7. A market is a PoolAddressesProvider, which names a Pool. Each listed reserve of the
 * Pool is a row, inactive ones included; a dropped reserve, or one of a replaced Pool, has no row.
 */
export const aaveV3: LendingProtocol<AaveDeployment> = {
  id: "aave-v3",
  kinds: [MARKET, SENTINEL, RESERVE],
  topics: AAVE_TOPICS,
  parseDeployment: parseAaveDeployment,
  roots: ({ markets }) => markets.flatMap(({ provider }) => [marketRef(provider), sentinelRef(provider)]),
  // Each Pool lists its reserves: past logs are not needed.
  scans: () => [],
  affectedEntities: affectedAaveEntities,
  async read({ kind, id }, { reader, previous = null }) {
    try {
      if (kind === MARKET) return await readMarket(id as Hex, reader);
      if (kind === SENTINEL) return await readSentinel(id as Hex, reader);
      const [pool, asset] = id.split(":") as [Hex, Hex];
      return {
        state: await readReserve({ pool, asset }, { reader, previous: previous as ReserveState | null }),
      };
    } catch (error) {
      // Return data that is too short or out of range.
      if (error instanceof RangeError)
        throw new UnreadableEntity(`${kind} ${id} returns malformed data: ${error.message}`, {
          cause: error,
        });
      throw error;
    }
  },
  volatile: { [SENTINEL]: (state) => (state as SentinelState).sentinel !== ZERO_ADDRESS },
  entitiesOf: ({ id, underlying }, { entities, deployment }) =>
    deployment.markets.flatMap(({ provider }) => {
      const pool = entities.get<MarketState>(MARKET, provider)?.state.pool;
      const isOther = pool !== undefined && pool !== id;
      if (isOther) return [marketRef(provider)];
      const reserve =
        pool === undefined || underlying === undefined ? [] : [reserveRef(pool, underlying as Hex)];
      return [marketRef(provider), sentinelRef(provider), ...reserve];
    }),
  *rows(entities, { time, deployment }) {
    for (const { provider } of deployment.markets) {
      const market = entities.get<MarketState>(MARKET, provider)?.state;
      if (market === undefined) continue;
      const sentinelLends = entities.get<SentinelState>(SENTINEL, provider)?.state.lends ?? true;
      for (const asset of market.reserves) {
        const { kind, id } = reserveRef(market.pool, asset);
        const reserve = entities.get<ReserveState | null>(kind, id)?.state;
        if (reserve) yield reserveRow(reserve, { ...market, sentinelLends, time });
      }
    }
  },
};
