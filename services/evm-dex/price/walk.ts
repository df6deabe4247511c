/** A pool as an edge of the price graph. */
export interface PriceEdge {
  readonly pool: string;
  readonly token0: string;
  readonly token1: string;
  /** token1 per token0, whole tokens, trusted (price/median.ts). */
  readonly price: number;
  /** What stands behind the price on either side, whole tokens: the smaller of the pool's holdings and its virtual reserve. */
  readonly depth0: number;
  readonly depth1: number;
}

export interface TokenPrice {
  readonly usd: number;
  /** Pools between the token and its anchor; 0 for an anchor. */
  readonly hops: number;
  /** USD behind the weakest pool of the path; Infinity for an anchor. */
  readonly depthUsd: number;
  readonly viaPool: string;
}

export interface WalkRules {
  readonly minDepthUsd: number;
  readonly maxHops: number;
}

export const DEFAULT_RULES: WalkRules = { minDepthUsd: 10_000, maxHops: 4 };

interface Candidate extends TokenPrice {
  readonly token: string;
}

/**
 * USD prices by a best-first walk from the anchors (1 USD each): of all pools that lead from a priced token to an
 * unpriced one, the path with the most USD behind its weakest pool goes first, so that every token is priced over its
 * widest path. A pool's depth is counted on its priced side. Pools under minDepthUsd and paths over maxHops are not
 * walked; what they alone lead to has no price. Equal depths are decided by pool address: the result is a function
 * of the edges, not of their order.
 */
export function walkPrices(
  edges: Iterable<PriceEdge>,
  options: { anchors: readonly string[]; rules?: WalkRules },
): Map<string, TokenPrice> {
  const rules = options.rules ?? DEFAULT_RULES;
  const byToken = edgesByToken(edges);
  const prices = new Map<string, TokenPrice>();
  const queue = new MaxHeap<Candidate>(isBetter);

  const settle = (token: string, price: TokenPrice) => {
    prices.set(token, price);
    if (price.hops === rules.maxHops) return;
    for (const edge of byToken.get(token) ?? []) {
      const candidate = candidateOver(edge, token, price);
      if (
        !prices.has(candidate.token) &&
        candidate.depthUsd >= rules.minDepthUsd &&
        isUsable(candidate.usd)
      ) {
        queue.push(candidate);
      }
    }
  };
  for (const anchor of options.anchors) {
    prices.set(anchor, { usd: 1, hops: 0, depthUsd: Number.POSITIVE_INFINITY, viaPool: "" });
  }
  for (const anchor of options.anchors) settle(anchor, prices.get(anchor) as TokenPrice);
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { token, ...price } = next;
    if (!prices.has(token)) settle(token, price);
  }
  return prices;
}

function candidateOver(edge: PriceEdge, priced: string, price: TokenPrice): Candidate {
  const isToken0 = edge.token0 === priced;
  const sideUsd = (isToken0 ? edge.depth0 : edge.depth1) * price.usd;
  return {
    token: isToken0 ? edge.token1 : edge.token0,
    usd: isToken0 ? price.usd / edge.price : price.usd * edge.price,
    hops: price.hops + 1,
    depthUsd: Math.min(sideUsd, price.depthUsd),
    viaPool: edge.pool,
  };
}

function isUsable(usd: number): boolean {
  return usd > 0 && Number.isFinite(usd);
}

function isBetter(a: Candidate, b: Candidate): boolean {
  if (a.depthUsd !== b.depthUsd) return a.depthUsd > b.depthUsd;
  if (a.hops !== b.hops) return a.hops < b.hops;
  return a.viaPool < b.viaPool;
}

function edgesByToken(edges: Iterable<PriceEdge>): Map<string, PriceEdge[]> {
  const byToken = new Map<string, PriceEdge[]>();
  for (const edge of edges) {
    for (const token of [edge.token0, edge.token1]) {
      const list = byToken.get(token);
      if (list === undefined) byToken.set(token, [edge]);
      else list.push(edge);
    }
  }
  return byToken;
}

/** A binary heap: no package of this size is worth its dependency. */
class MaxHeap<T> {
  readonly #items: T[] = [];
  readonly #isBetter: (a: T, b: T) => boolean;

  constructor(better: (a: T, b: T) => boolean) {
    this.#isBetter = better;
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBetter(item, items[parent] as T)) break;
      items[at] = items[parent] as T;
      at = parent;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const best = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return best;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && this.#isBetter(items[child + 1] as T, items[child] as T)) child += 1;
      if (!this.#isBetter(items[child] as T, last)) break;
      items[at] = items[child] as T;
      at = child;
    }
    items[at] = last;
    return best;
  }
}
