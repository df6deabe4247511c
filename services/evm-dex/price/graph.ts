import { atPeg } from "./anchor-prices.ts";
import { EdgeBook, type PriceEdge } from "./edges.ts";
import { isAnchor, type PriceLink, priceFrom, type TokenLink, type TokenPrice } from "./link.ts";
import { DEFAULT_RULES, Walk, type WalkRules } from "./walk.ts";

/** A token whose link changed; without a link it has no price any more. */
export interface LinkChange {
  readonly token: string;
  readonly link: TokenLink | undefined;
}

/**
 * The price graph of one chain: edges in, prices and their links out. Walks the whole graph again, but only when a
 * changed edge affects it: on a graph of Base's size that takes a few milliseconds (npm run bench:prices). The result
 * is a function of the edges, of the prices before and of the time.
 */
export class PriceGraph {
  readonly #edges: EdgeBook;
  readonly #walk: Walk;
  /** An edge changed that affects the walk. */
  #isStale = true;
  /** Walked since links were last taken. */
  #isUnread = true;
  /** By token: the link last taken. */
  readonly #lastTaken = new Map<number, TokenLink>();

  constructor(anchors: readonly string[], rules: WalkRules = DEFAULT_RULES) {
    this.#edges = new EdgeBook(anchors, rules.minDepthUsd);
    this.#walk = new Walk(this.#edges, rules);
    // Stored when the index begins.
    for (const anchor of anchors) this.#lastTaken.set(this.#edges.tokenId(anchor), { anchorUsd: 1 });
  }

  /** Adds or replaces a pool; prices follow with `update`. */
  set(edge: PriceEdge): void {
    const id = this.#edges.set(edge);
    if (id !== undefined && !this.#isStale) this.#isStale = this.#walk.isAffectedBy(id);
  }

  /** Sets what an anchor's feed says; undefined: it has none that counts. Prices follow with `update`. */
  setAnchorUsd(anchor: string, usd: number | undefined): void {
    const id = this.#edges.knownTokenId(anchor);
    if (id === undefined || id >= this.#edges.anchorCount) return;
    const pegged = usd === undefined ? undefined : atPeg(usd);
    if (this.#walk.given[id] === pegged) return;
    this.#walk.given[id] = pegged;
    this.#isStale = true;
  }

  /**
   * Continues with the links of an earlier process as the prices in use, which are also taken already.
   * @param links of all priced tokens, anchors too
   */
  resume(links: ReadonlyMap<string, TokenLink>): void {
    for (const [token, link] of links) {
      const id = this.#edges.tokenId(token);
      this.#lastTaken.set(id, link);
      const price = priceFrom(token, (name) => links.get(name));
      if (price === undefined || isAnchor(link)) continue;
      this.#walk.remember(id, { usd: price.usd, departure: link.departure });
    }
  }

  /**
   * Brings prices up to date with the edges and the time.
   * @param now Unix seconds of the block
   */
  update(now: number): void {
    if (!this.#isStale && this.#walk.departed === 0) return;
    this.#walk.run(now);
    this.#isStale = false;
    this.#isUnread = true;
  }

  usd(token: string): number | undefined {
    const id = this.#edges.knownTokenId(token);
    return id === undefined || !this.#walk.isPriced(id) ? undefined : this.#walk.usdOf(id);
  }

  price(token: string): TokenPrice | undefined {
    const usd = this.usd(token);
    const link = usd === undefined ? undefined : this.link(token);
    if (usd === undefined || link === undefined) return undefined;
    return isAnchor(link) ? { usd, hops: 0, link: undefined } : { usd, hops: link.hops, link };
  }

  link(token: string): TokenLink | undefined {
    const id = this.#edges.knownTokenId(token);
    return id === undefined || !this.#walk.isPriced(id) ? undefined : this.#linkOf(id);
  }

  /** Every token that a pool holds, and the anchors. */
  get known(): readonly string[] {
    return this.#edges.tokens;
  }

  /** Every token with a price, anchors too. */
  tokens(): string[] {
    return this.#walk.order.map((token) => this.#edges.tokens[token] as string);
  }

  /** Links that changed since they were last taken. */
  takeLinks(): LinkChange[] {
    if (!this.#isUnread) return [];
    this.#isUnread = false;
    const changes: LinkChange[] = [];
    for (const token of this.#walk.order) {
      const before = this.#lastTaken.get(token);
      if (before !== undefined && this.#isLink(before, token)) continue;
      const link = this.#linkOf(token);
      this.#lastTaken.set(token, link);
      changes.push({ token: this.#edges.tokens[token] as string, link });
    }
    if (this.#lastTaken.size > this.#walk.order.length) changes.push(...this.#takeGone());
    return changes;
  }

  #takeGone(): LinkChange[] {
    const gone: LinkChange[] = [];
    for (const token of this.#lastTaken.keys()) {
      if (this.#walk.isPriced(token)) continue;
      this.#lastTaken.delete(token);
      gone.push({ token: this.#edges.tokens[token] as string, link: undefined });
    }
    return gone;
  }

  #linkOf(id: number): TokenLink {
    const verdict = this.#walk.verdictOf(id);
    if (verdict === undefined) return { anchorUsd: this.#walk.usdOf(id) };
    const { tokens, token, pools } = this.#edges;
    const { arc } = verdict;
    return {
      token: tokens[id] as string,
      parent: tokens[token[arc] as number] as string,
      pool: pools[arc >> 1] as string,
      side: arc & 1 ? 0 : 1,
      price: this.#edges.priceOf(arc >> 1),
      hops: this.#walk.hopsOf(id),
      support: verdict.support,
      departure: verdict.departure,
    };
  }

  /** Whether the link is that of the last walk. */
  #isLink(link: TokenLink, id: number): boolean {
    const verdict = this.#walk.verdictOf(id);
    if (verdict === undefined) return isAnchor(link) && link.anchorUsd === this.#walk.usdOf(id);
    if (isAnchor(link)) return false;
    const { arc, support, departure } = verdict;
    return (
      link.pool === this.#edges.pools[arc >> 1] &&
      link.price === this.#edges.priceOf(arc >> 1) &&
      link.side === (arc & 1 ? 0 : 1) &&
      link.hops === this.#walk.hopsOf(id) &&
      isSameSupport(link.support, support) &&
      link.departure?.since === departure?.since &&
      link.departure?.usd === departure?.usd
    );
  }
}

function isSameSupport(a: PriceLink["support"], b: PriceLink["support"]): boolean {
  return a.pool === b.pool && a.depthUsd === b.depthUsd && a.restUsd === b.restUsd;
}
