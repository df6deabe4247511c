import type { PoolRow } from "../../store/collections.ts";

/** Texts that are remembered; then it begins anew. */
const MOST_TEXTS = 10_000;

/**
 * One text in place of equal ones. Each row that is read comes with texts of its own, though thousands of pools have the same
 * exchange and one of a few tokens: a fifth of what an entry takes.
 */
export class SharedTexts {
  readonly #texts = new Map<string, string>();

  share(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.#texts.size === MOST_TEXTS) this.#texts.clear();
    this.#texts.set(text, text);
    return text;
  }

  /** The same row; what it shares with other pools is shared. */
  shareRow(row: PoolRow): PoolRow {
    return {
      ...row,
      dexAddress: this.share(row.dexAddress),
      dexName: this.share(row.dexName),
      family: this.share(row.family) as PoolRow["family"],
      protocol: this.share(row.protocol) as PoolRow["protocol"],
      token0Address: this.share(row.token0Address),
      token0Symbol: this.share(row.token0Symbol),
      token1Address: this.share(row.token1Address),
      token1Symbol: this.share(row.token1Symbol),
    };
  }
}
