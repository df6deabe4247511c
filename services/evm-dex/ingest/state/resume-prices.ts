import type { MarkedPrices } from "../../price/graph.ts";
import type { TokenLink } from "../../price/link.ts";
import { parentsOf } from "../../store/price-links.ts";
import type { PoolPrices } from "./pool-prices.ts";

/** The last block with events; seconds. */
export interface LastBlock {
  readonly blockNumber: number;
  readonly time: number;
}

/** What is stored of prices at the last block. */
interface StoredPrices {
  links(tokens: Iterable<string>): Promise<ReadonlyMap<string, TokenLink>>;
  /** @param priced tokens with a price */
  marked(priced: Iterable<string>): Promise<MarkedPrices>;
}

/**
 * Continues from the links that are stored. A walk needs what a token was worth only of those that it prices, one in fifty
 * tokens of a chain. So a walk without links says which to read, and another one is made with them, until one prices no
 * token whose link was not looked for. That one is the walk with the links of all tokens.
 */
export async function resumePrices(
  prices: Pick<PoolPrices, "graph" | "setAnchors" | "resume">,
  last: LastBlock,
  stored: StoredPrices,
): Promise<void> {
  const links = new Map<string, TokenLink>();
  const asked = new Set<string>();
  for (let wanted = new Set<string>(); ; ) {
    for (; wanted.size > 0; wanted = parentsOf(links.values(), (token) => asked.has(token))) {
      for (const [token, link] of await stored.links(wanted)) links.set(token, link);
      for (const token of wanted) asked.add(token);
    }
    const marked = await stored.marked(links.keys());
    prices.graph.forget();
    prices.setAnchors(last);
    prices.resume(links, last.time, marked);
    wanted = new Set(prices.graph.tokens().filter((token) => !asked.has(token)));
    if (wanted.size === 0) return;
  }
}
