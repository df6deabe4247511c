import { createHash } from "node:crypto";

/** USD prices of tokens as the walk of evm-dex has them, at one block, and whether oracles may stand in for it. */
export class PriceTable {
  /** Equal for equal prices, in every process. */
  readonly tag: string;
  readonly #usd: ReadonlyMap<string, number>;
  readonly #hasOracles: boolean;

  /** @param prices by lower-case address; tokens without a price are not among them */
  constructor(prices: ReadonlyMap<string, number>, { hasOracles = true } = {}) {
    this.#usd = prices;
    this.#hasOracles = hasOracles;
    const lines = [...prices].map(([token, usd]) => `${token} ${usd}\n`).sort();
    const hash = createHash("sha256").update(`${hasOracles}\n${lines.join("")}`);
    this.tag = hash.digest("base64url").slice(0, 16);
  }

  /** USD for one whole token; NaN where none is known. */
  usdOf(token: string): number {
    return this.#usd.get(token) ?? Number.NaN;
  }

  /** USD for what an oracle counts in (`OraclePrice.unit`); NaN where none is known, or oracles do not count. */
  usdOfUnit(unit: string): number {
    if (!this.#hasOracles) return Number.NaN;
    return unit === "USD" ? 1 : this.usdOf(unit);
  }
}

/**
 * No price at all, not even an oracle's: where nobody could be asked for too long. A list priced by oracles alone would
 * be ordered by who happens to have one.
 */
export const NO_PRICES = new PriceTable(new Map(), { hasOracles: false });

/** None of the walk's: what oracles say holds for the rows' own block, whatever evm-dex knows. */
export const ORACLES_ONLY = new PriceTable(new Map());
