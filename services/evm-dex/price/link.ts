import type { Departure } from "../../shared/pricing/departure.ts";

/** How a token is priced: over a pool from its parent's price. */
export interface PriceLink {
  readonly token: string;
  /** The token at the pool's other side, whose price is known. */
  readonly parent: string;
  /** The pool of the weighted median. */
  readonly pool: string;
  /** Which of the pool's tokens is the one priced. */
  readonly side: 0 | 1;
  /** The pool's trusted price, token1 per token0. */
  readonly price: number;
  /** Pools between the token and its anchor, by the shortest vote. */
  readonly hops: number;
  readonly support: Support;
  /** Set while pools with most of the weight have left the others and are not followed. */
  readonly departure?: Departure | undefined;
  /**
   * USD where all agree, if that is not the price in use at the last mark: pools that had left the others have been
   * followed since.
   */
  readonly agreedUsd?: number | undefined;
}

/** The money behind a price, in USD rounded down by roundDepth. */
export interface Support {
  /** The deepest pool whose price agrees. */
  readonly pool: string;
  /** USD behind the thinnest pool of the path over it, on either side. */
  readonly depthUsd: number;
  /** The same of all other pools that agree, added. */
  readonly restUsd: number;
}

/** An anchor has a price of its own: 1, or what it is worth while it is not. */
export interface AnchorLink {
  readonly anchorUsd: number;
}

export type TokenLink = PriceLink | AnchorLink;

export interface TokenPrice {
  readonly usd: number;
  /** 0 for an anchor. */
  readonly hops: number;
  /** Undefined for an anchor. */
  readonly link: PriceLink | undefined;
}

export function isAnchor(link: TokenLink): link is AnchorLink {
  return "anchorUsd" in link;
}

/** USD of a token on this side of a pool from the USD of the token on the other. */
export function usdOver(price: number, at: { side: number; parentUsd: number }): number {
  return at.side === 0 ? at.parentUsd * price : at.parentUsd / price;
}

/**
 * USD depth that supports a token's price outside of one pool; Infinity for an anchor. Where the pool is the deepest of
 * those that agree, the others are left; otherwise the deepest.
 */
export function supportOutside(pool: string, link: PriceLink | undefined): number {
  if (link === undefined) return Number.POSITIVE_INFINITY;
  const { support } = link;
  return support.pool === pool ? support.restUsd : support.depthUsd;
}

/** No path of the walk is longer; longer chains of links are not of one block. */
const MOST_LINKS = 16;

/**
 * A token's price at the block that the links are of; undefined where it has none. The same operations in the same
 * order as in the walk.
 * @param linkOf of every token that a link rests on, anchors too
 */
export function priceFrom(
  token: string,
  linkOf: (token: string) => TokenLink | undefined,
): TokenPrice | undefined {
  const links: PriceLink[] = [];
  let base = linkOf(token);
  while (base !== undefined && !isAnchor(base)) {
    if (links.length === MOST_LINKS) return undefined;
    links.push(base);
    base = linkOf(base.parent);
  }
  if (base === undefined) return undefined;
  const usd = links.reduceRight(
    (parentUsd, { price, side }) => usdOver(price, { side, parentUsd }),
    base.anchorUsd,
  );
  return { usd, hops: links[0]?.hops ?? 0, link: links[0] };
}
