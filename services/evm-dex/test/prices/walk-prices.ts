import type { PriceEdge } from "../../price/edges.ts";
import { PriceGraph } from "../../price/graph.ts";
import { isAnchor, type PriceLink, type TokenPrice } from "../../price/link.ts";
import type { WalkRules } from "../../price/walk-rules.ts";

export interface Walked {
  /** In the order of their tokens. */
  readonly prices: Map<string, TokenPrice>;
  readonly links: Map<string, PriceLink>;
}

/** Current prices and links of a graph. */
export function pricesIn(graph: PriceGraph): Walked {
  const links = new Map<string, PriceLink>();
  const prices = new Map<string, TokenPrice>();
  for (const token of graph.tokens().sort()) {
    const link = graph.link(token);
    if (link !== undefined && !isAnchor(link)) links.set(token, link);
    prices.set(token, graph.price(token) as TokenPrice);
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
  graph.update(0);
  return pricesIn(graph);
}

export function walkPrices(...args: Parameters<typeof walkAll>): Map<string, TokenPrice> {
  return walkAll(...args).prices;
}

/** A pool that has held all of its depth for long. */
export function pool(
  name: string,
  options: {
    tokens: readonly [string, string];
    price: number;
    depths: readonly [number, number];
    held?: number;
    aged?: number;
    lastTime?: number;
  },
): PriceEdge {
  const [token0, token1] = options.tokens;
  const [depth0, depth1] = options.depths;
  const { price, held = 1, aged = 1, lastTime = 0 } = options;
  return { pool: name, token0, token1, price, depth0, depth1, held, aged, lastTime };
}

/** A pool with so many USD on either side, of tokens worth this much. */
export function balanced(
  name: string,
  options: {
    tokens: readonly [string, string];
    usd: readonly [number, number];
    depthUsd: number;
    held?: number;
    aged?: number;
    lastTime?: number;
  },
): PriceEdge {
  const [usd0, usd1] = options.usd;
  return pool(name, {
    ...options,
    price: usd0 / usd1,
    depths: [options.depthUsd / usd0, options.depthUsd / usd1],
  });
}
