import type { Hex } from "../../../shared/evm/port.ts";
import { type LendingProtocol, UnreadableUnit } from "../protocol.ts";
import { parseAaveDeployment } from "./deployment.ts";
import { AAVE_TOPICS, hearAave } from "./hear.ts";
import { readMarket } from "./read-market.ts";
import { readReserve } from "./read-reserve.ts";
import { reserveRow } from "./rows.ts";
import {
  type AaveDeployment,
  MARKET,
  type MarketState,
  marketRef,
  RESERVE,
  type ReserveState,
  reserveRef,
} from "./state.ts";

/**
 * Aave v3, of every version so far. A market is a PoolAddressesProvider, which names a Pool, whose reserves are the
 * rows; a reserve that is dropped, or whose Pool the market left, has none.
 */
export const aaveV3: LendingProtocol<AaveDeployment> = {
  id: "aave-v3",
  kinds: [MARKET, RESERVE],
  topics: AAVE_TOPICS,
  parseDeployment: parseAaveDeployment,
  roots: ({ markets }) => markets.map(({ provider }) => marketRef(provider)),
  // Each Pool lists its reserves: nothing needs to be found in past logs.
  scans: () => [],
  hear: hearAave,
  async read({ kind, id }, { reader, previous = null }) {
    try {
      if (kind === MARKET) return await readMarket(id as Hex, reader);
      const [pool, asset] = id.split(":") as [Hex, Hex];
      return {
        state: await readReserve({ pool, asset }, { reader, previous: previous as ReserveState | null }),
      };
    } catch (error) {
      // Words that are not there, or not what they should be.
      if (error instanceof RangeError)
        throw new UnreadableUnit(`${kind} ${id} answers no such thing: ${error.message}`, { cause: error });
      throw error;
    }
  },
  *rows(units, { time, deployment }) {
    for (const { provider } of deployment.markets) {
      const market = units.get<MarketState>(MARKET, provider)?.state;
      if (market === undefined) continue;
      for (const asset of market.reserves) {
        const { kind, id } = reserveRef(market.pool, asset);
        const reserve = units.get<ReserveState | null>(kind, id)?.state;
        if (reserve) yield reserveRow(reserve, { pool: market.pool, time });
      }
    }
  },
};
