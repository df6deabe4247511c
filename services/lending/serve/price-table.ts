import { createHash } from "node:crypto";
import type { OraclePrice } from "../protocols/rows.ts";

/** USD prices of tokens as the walk of evm-dex has them, at one block. */
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

  /**
   * USD for one whole token, else what the protocol's own oracle says it is worth; NaN where neither tells. An oracle
   * that counts in another token is worth that token's price.
   */
  usdOf(token: string, oracle: OraclePrice | null): number {
    const usd = this.#usd.get(token);
    if (usd !== undefined) return usd;
    if (oracle === null || !this.#hasOracles) return Number.NaN;
    const unit = oracle.unit === "USD" ? 1 : this.#usd.get(oracle.unit);
    return unit === undefined ? Number.NaN : oracle.value * unit;
  }
}

/**
 * No price at all, not even an oracle's: where nobody could be asked for too long. A list priced by oracles alone would
 * be ordered by who happens to have one.
 */
export const NO_PRICES = new PriceTable(new Map(), { hasOracles: false });

/** None of the walk's: what oracles say holds for the rows' own block, whatever evm-dex knows. */
export const ORACLES_ONLY = new PriceTable(new Map());
