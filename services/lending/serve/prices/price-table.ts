import { createHash } from "node:crypto";

/** USD prices of tokens at one block by the price walk of evm-dex, and whether oracles may replace missing ones. */
export class PriceTable {
  /** Equal for equal prices, in every process. */
  readonly tag: string;
  readonly #usd: ReadonlyMap<string, number>;
  readonly #hasOracles: boolean;

  /** @param prices by lower-case address; without unpriced tokens */
  constructor(prices: ReadonlyMap<string, number>, { hasOracles = true } = {}) {
    this.#usd = prices;
    this.#hasOracles = hasOracles;
    const lines = [...prices].map(([token, usd]) => `${token} ${usd}\n`).sort();
    const hash = createHash("sha256").update(`${hasOracles}\n${lines.join("")}`);
    this.tag = hash.digest("base64url").slice(0, 16);
  }

  /** USD for one whole token; NaN if unknown. */
  usdOf(token: string): number {
    return this.#usd.get(token) ?? Number.NaN;
  }

  /** USD for `OraclePrice.unit`; NaN if unknown, or where oracles may not be used. */
  usdOfUnit(unit: string): number {
    if (!this.#hasOracles) return Number.NaN;
    return unit === "USD" ? 1 : this.usdOf(unit);
  }
}

/**
 * No prices, not even of oracles: after a long outage of evm-dex. Prices of oracles alone would rank the rows that happen
 * to have an oracle first.
 */
export const NO_PRICES = new PriceTable(new Map(), { hasOracles: false });

/** No prices of the walk; those of oracles hold for the rows' own block, whatever evm-dex has. */
export const ORACLES_ONLY = new PriceTable(new Map());
