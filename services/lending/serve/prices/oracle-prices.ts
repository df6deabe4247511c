import { type OracleState, PRICE_ORACLE } from "../../protocols/price-oracles/state.ts";
import type { EntitySet } from "../../protocols/protocol.ts";

export interface OracleQuote {
  readonly usd: number;
  readonly source: "aave" | "chainlink";
  /** Seconds from when the oracle was told the price (where it says so), else from the block of the reading, to the rows. */
  readonly ageSeconds: number;
}

/** What the chain's trusted oracles say, for rows of one block. */
export interface OraclePrices {
  readonly quotes: ReadonlyMap<string, OracleQuote>;
  /** Seconds by which the oldest used reading is older than the rows' block; 0 where all were read at the block itself. */
  readonly lagSeconds: number;
}

export const NO_ORACLES: OraclePrices = { quotes: new Map(), lagSeconds: 0 };

/**
 * One price a token: of the first oracle, in the order of the deployments, that has one. A reading that is older than the
 * limit is not used.
 */
export function oraclePricesOf(
  entities: EntitySet,
  { time, ids, staleSeconds }: { time: number; ids: readonly string[]; staleSeconds: number },
): OraclePrices {
  const quotes = new Map<string, OracleQuote>();
  let lagSeconds = 0;
  for (const id of ids) {
    const oracle = entities.get<OracleState>(PRICE_ORACLE, id);
    if (oracle === undefined || time - oracle.time > staleSeconds) continue;
    const { source, prices } = oracle.state;
    for (const { token, answer, unit, toldAt } of prices) {
      if (quotes.has(token)) continue;
      const usd = Number(answer) / Number(unit);
      quotes.set(token, { usd, source, ageSeconds: Math.max(0, time - (toldAt ?? oracle.time)) });
      lagSeconds = Math.max(lagSeconds, time - oracle.time);
    }
  }
  return { quotes, lagSeconds };
}
