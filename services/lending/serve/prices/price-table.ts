import { createHash } from "node:crypto";
import type { OraclePrices } from "./oracle-prices.ts";

/** Where a price is from: the price walk of evm-dex over pools, or a trusted oracle. */
export type UsdSource = "dex" | "aave" | "chainlink";

export interface UsdPrice {
  readonly usd: number;
  readonly source: UsdSource;
  /** Seconds by which the price is older than the rows' block. */
  readonly ageSeconds: number;
}

/** What the price walk says at one block. */
export interface WalkPrices {
  /** USD for one whole token, by lower-case address; without unpriced tokens. */
  readonly usd: ReadonlyMap<string, number>;
  /** Anchors of the walk, which are taken as 1 USD where nothing says otherwise. */
  readonly anchors: ReadonlySet<string>;
}

/** An anchor's 1 USD holds while a trusted oracle says the same within this part; evm-dex draws the line there, too. */
const PEG_TOLERANCE = 0.005;

/** USD prices of tokens for the rows of one block: one price a token, whichever row it is in. */
export class PriceTable {
  /** Equal for equal prices, in every process. */
  readonly tag: string;
  readonly #prices: ReadonlyMap<string, UsdPrice>;

  /** @param prices by lower-case address; without unpriced tokens */
  constructor(prices: ReadonlyMap<string, UsdPrice>) {
    this.#prices = prices;
    const lines = [...prices].map(
      ([token, { usd, source, ageSeconds }]) => `${token} ${usd} ${source} ${ageSeconds}\n`,
    );
    const hash = createHash("sha256").update(lines.sort().join(""));
    this.tag = hash.digest("base64url").slice(0, 16);
  }

  of(token: string): UsdPrice | undefined {
    return this.#prices.get(token);
  }

  /** USD for one whole token; NaN if unknown. */
  usdOf(token: string): number {
    return this.#prices.get(token)?.usd ?? Number.NaN;
  }
}

/** After a long outage of evm-dex: prices of oracles alone would rank the rows that happen to have an oracle first. */
export const NO_PRICES = new PriceTable(new Map());

/**
 * The walk's price where it has one, else a trusted oracle's. An anchor is 1 USD by convention: where an oracle says that
 * it has lost its peg, the oracle's price counts.
 */
export function mergePrices(
  walk: WalkPrices | undefined,
  { oracles, walkLagSeconds }: { oracles: OraclePrices; walkLagSeconds: number },
): PriceTable {
  const merged = new Map<string, UsdPrice>(oracles.quotes);
  for (const [token, usd] of walk?.usd ?? []) {
    const oracle = oracles.quotes.get(token);
    const isUnpegged =
      oracle !== undefined &&
      walk?.anchors.has(token) === true &&
      usd === 1 &&
      Math.abs(oracle.usd - 1) > PEG_TOLERANCE;
    if (!isUnpegged) merged.set(token, { usd, source: "dex", ageSeconds: walkLagSeconds });
  }
  return new PriceTable(merged);
}
