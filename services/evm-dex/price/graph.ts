import { EdgeBook, type PriceEdge } from "./edges.ts";
import { type Hop, type PriceLink, priceFrom, type TokenLink, type TokenPrice } from "./link.ts";
import { DEFAULT_RULES, NONE, Walk, type WalkRules } from "./walk.ts";

/** A token whose link changed; without a link it has no price any more. */
export interface LinkChange {
  readonly token: string;
  readonly link: PriceLink | undefined;
}

/**
 * The price graph of one chain: edges in, prices and their links out. Walks the whole graph again, but only when a
 * changed edge affects it: on a graph of Base's size that takes a millisecond or two (npm run bench:prices), and
 * always gives the result of a first walk over all edges.
 */
export class PriceGraph {
  readonly #edges: EdgeBook;
  readonly #walk: Walk;
  /** An edge changed that affects the walk. */
  #isStale = true;
  /** Walked since links were last taken. */
  #isUnread = true;
  /** By token: the link last taken. */
  readonly #lastTaken = new Map<number, PriceLink>();

  constructor(anchors: readonly string[], rules: WalkRules = DEFAULT_RULES) {
    this.#edges = new EdgeBook(anchors, rules.minDepthUsd);
    this.#walk = new Walk(this.#edges, rules);
  }

  /** Adds or replaces a pool; prices follow with `update`. */
  set(edge: PriceEdge): void {
    const id = this.#edges.set(edge);
    if (id !== undefined && !this.#isStale) this.#isStale = this.#walk.isAffectedBy(id);
  }

  /** Brings prices up to date with the edges. */
  update(): void {
    if (!this.#isStale) return;
    this.#walk.run();
    this.#isStale = false;
    this.#isUnread = true;
  }

  usd(token: string): number | undefined {
    const path = this.#pathOf(token);
    return path === NONE ? undefined : this.#walk.usd[path];
  }

  price(token: string): TokenPrice | undefined {
    return priceFrom(token, (name) => this.link(name));
  }

  link(token: string): TokenLink | undefined {
    const path = this.#pathOf(token);
    if (path === NONE) return undefined;
    return this.#walk.arc[path] === NONE ? "anchor" : this.#linkOf(path);
  }

  /** Every token with a price, anchors too. */
  tokens(): string[] {
    const tokens: string[] = [];
    for (let path = 0; path < this.#walk.count; path++) {
      if (this.#walk.isOwn(path)) tokens.push(this.#edges.tokens[this.#walk.token[path] as number] as string);
    }
    return tokens;
  }

  /** Links that changed since they were last taken. */
  takeLinks(): LinkChange[] {
    if (!this.#isUnread) return [];
    this.#isUnread = false;
    const changes: LinkChange[] = [];
    const { count, arc, token: tokenOf } = this.#walk;
    let linked = 0;
    for (let path = 0; path < count; path++) {
      if (arc[path] === NONE || !this.#walk.isOwn(path)) continue;
      linked += 1;
      const token = tokenOf[path] as number;
      const before = this.#lastTaken.get(token);
      if (before !== undefined && this.#isLink(before, path)) continue;
      const link = this.#linkOf(path);
      this.#lastTaken.set(token, link);
      changes.push({ token: link.token, link });
    }
    if (this.#lastTaken.size > linked) changes.push(...this.#takeGone());
    return changes;
  }

  #takeGone(): LinkChange[] {
    const gone: LinkChange[] = [];
    for (const [token, link] of this.#lastTaken) {
      if (this.#walk.pathOf(token) !== NONE) continue;
      this.#lastTaken.delete(token);
      gone.push({ token: link.token, link: undefined });
    }
    return gone;
  }

  #pathOf(token: string): number {
    const id = this.#edges.knownTokenId(token);
    return id === undefined ? NONE : this.#walk.pathOf(id);
  }

  #linkOf(path: number): PriceLink {
    const detour: Hop[] = [];
    let base = this.#walk.parent[path] as number;
    for (; !this.#walk.isOwn(base); base = this.#walk.parent[base] as number) detour.push(this.#hopOf(base));
    return {
      token: this.#edges.tokens[this.#walk.token[path] as number] as string,
      ...this.#hopOf(path),
      detour,
      isAnchored: this.#walk.arc[base] === NONE,
    };
  }

  #hopOf(path: number): Hop {
    const arc = this.#walk.arc[path] as number;
    const { tokens, pools, token, price, depth } = this.#edges;
    return {
      parent: tokens[token[arc] as number] as string,
      pool: pools[arc >> 1] as string,
      side: arc & 1 ? 0 : 1,
      price: price[arc >> 1] as number,
      depth: depth[arc] as number,
    };
  }

  /** Whether the path is the link as it was taken. */
  #isLink(link: PriceLink, path: number): boolean {
    if (!this.#isHop(link, path)) return false;
    let parent = this.#walk.parent[path] as number;
    for (const hop of link.detour) {
      if (this.#walk.isOwn(parent) || !this.#isHop(hop, parent)) return false;
      parent = this.#walk.parent[parent] as number;
    }
    return this.#walk.isOwn(parent);
  }

  #isHop(hop: Hop, path: number): boolean {
    const arc = this.#walk.arc[path] as number;
    const { pools, price, depth } = this.#edges;
    return hop.pool === pools[arc >> 1] && hop.price === price[arc >> 1] && hop.depth === depth[arc];
  }
}
