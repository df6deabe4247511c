/** One pool of a token's path: the parent token and the pool that give its price. */
export interface Hop {
  /** The token at the pool's other side, whose price is known. */
  readonly parent: string;
  readonly pool: string;
  /** Which of the pool's tokens is the one priced. */
  readonly side: 0 | 1;
  /** The pool's trusted price, token1 per token0. */
  readonly price: number;
  /** Liquidity behind it on the parent's side, whole tokens. */
  readonly depth: number;
}

/**
 * How a token is priced: over a pool from its parent's price. As a rule that is the parent's own price; where the
 * parent's own path is too long to extend, it is the price over another of its paths, whose pools follow as the
 * detour.
 */
export interface PriceLink extends Hop {
  readonly token: string;
  /** Pools from the parent on, down to the base: a token used at its own price. Empty as a rule. */
  readonly detour: readonly Hop[];
  /** Whether the base is an anchor: then no other link is needed. */
  readonly isAnchored: boolean;
}

/** The base of a token's price; an anchor has none. */
export type TokenLink = PriceLink | "anchor";

export interface TokenPrice {
  readonly usd: number;
  /** Pools between the token and its anchor; 0 for an anchor. */
  readonly hops: number;
  /** USD behind the weakest pool of the path; Infinity for an anchor. */
  readonly depthUsd: number;
}

export const ANCHOR_PRICE: TokenPrice = { usd: 1, hops: 0, depthUsd: Number.POSITIVE_INFINITY };

/** USD of a token on this side of a pool from the USD of the token on the other. */
export function usdOver(price: number, at: { side: number; parentUsd: number }): number {
  return at.side === 0 ? at.parentUsd * price : at.parentUsd / price;
}

/** The price over one more pool. */
function stepOver(hop: Hop, parent: TokenPrice): TokenPrice {
  return {
    usd: usdOver(hop.price, { side: hop.side, parentUsd: parent.usd }),
    hops: parent.hops + 1,
    depthUsd: Math.min(hop.depth * parent.usd, parent.depthUsd),
  };
}

/** The token whose own price is the base of a link. */
export function baseOf(link: PriceLink): string {
  return (link.detour.at(-1) ?? link).parent;
}

/** The price of a link's token from that of its base: the same operations in the same order as in the walk. */
export function priceOver(link: PriceLink, base: TokenPrice): TokenPrice {
  let price = base;
  for (let i = link.detour.length - 1; i >= 0; i--) price = stepOver(link.detour[i] as Hop, price);
  return stepOver(link, price);
}

/** No path of the walk is longer; longer chains of links are not of one block. */
const MOST_LINKS = 16;

/**
 * A token's price at the block that the links are of; undefined where it has none.
 * @param linkOf of every token that a link rests on, but for anchors
 */
export function priceFrom(
  token: string,
  linkOf: (token: string) => TokenLink | undefined,
): TokenPrice | undefined {
  const links: PriceLink[] = [];
  for (let base = token; ; ) {
    const link = linkOf(base);
    if (link === "anchor") break;
    if (link === undefined || links.length === MOST_LINKS) return undefined;
    links.push(link);
    if (link.isAnchored) break;
    base = baseOf(link);
  }
  return links.reduceRight<TokenPrice>((price, link) => priceOver(link, price), ANCHOR_PRICE);
}
