import type { PriceEdge } from "../../price/edges.ts";
import { PriceGraph } from "../../price/graph.ts";
import type { PriceLink, TokenPrice } from "../../price/link.ts";
import type { WalkRules } from "../../price/walk.ts";

/** A token's price and the pool it is priced over ("" for an anchor). */
export interface WalkedPrice extends TokenPrice {
  readonly viaPool: string;
}

export interface Walked {
  readonly prices: Map<string, WalkedPrice>;
  readonly links: Map<string, PriceLink>;
}

/** Current prices and links of a graph, in the order of their tokens. */
export function pricesIn(graph: PriceGraph): Walked {
  const tokens = graph.tokens().sort();
  const links = new Map<string, PriceLink>();
  const prices = new Map<string, WalkedPrice>();
  for (const token of tokens) {
    const link = graph.link(token);
    if (typeof link === "object") links.set(token, link);
    prices.set(token, { ...(graph.price(token) as TokenPrice), viaPool: links.get(token)?.pool ?? "" });
  }
  return { prices, links };
}

/** A walk over all these edges, from nothing. */
export function walkAll(
  edges: Iterable<PriceEdge>,
  { anchors, rules }: { anchors: readonly string[]; rules?: WalkRules },
): Walked {
  const graph = new PriceGraph(anchors, rules);
  for (const edge of edges) graph.set(edge);
  graph.update();
  return pricesIn(graph);
}

export function walkPrices(...args: Parameters<typeof walkAll>): Map<string, WalkedPrice> {
  return walkAll(...args).prices;
}

/** A pool with so many USD on its token0 side at price 1 for that, and as deep on the other. */
export function pool(
  name: string,
  {
    tokens,
    depths,
    price,
  }: { tokens: readonly [string, string]; price: number; depths: readonly [number, number] },
): PriceEdge {
  const [token0, token1] = tokens;
  const [depth0, depth1] = depths;
  return { pool: name, token0, token1, price, depth0, depth1 };
}
