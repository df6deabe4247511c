import { atPeg } from "./anchor-prices.ts";
import { EdgeBook, type EdgeNames, type PriceEdge } from "./edges.ts";
import { IntList } from "./int-list.ts";
import { isAnchor, priceFrom, type TokenLink, type TokenPrice } from "./link.ts";
import { ABSENT, ANCHOR, LinkColumns, UNKNOWN } from "./link-columns.ts";
import { lastMark } from "./marks.ts";
import { TextNames } from "./names.ts";
import { NONE, Walk } from "./walk.ts";
import { DEFAULT_RULES, type WalkRules } from "./walk-rules.ts";

/** Where more edges have changed, most prices have. */
const MOST_CHANGED = 300;
/** After so many tries in vain one in TRY_EACH blocks is tried. */
const MOST_FAILURES = 8;
const TRY_EACH = 8;

/** A token whose link changed; without a link it has no price any more. */
export interface LinkChange {
  readonly token: string;
  readonly link: TokenLink | undefined;
}

/** USD in use at the last mark before a second, by token. */
export interface MarkedPrices {
  readonly now: number;
  readonly usd: ReadonlyMap<string, number>;
}

/**
 * The price graph of one chain: edges in, prices and their links out. Walks again only when a changed edge affects
 * the walk, and over all tokens only where most prices change or their order does: on a graph of Base's size that takes a
 * few milliseconds (npm run bench:prices). The result is a function of the edges, of the prices before and of the time.
 */
export class PriceGraph {
  readonly #edges: EdgeBook;
  readonly #walk: Walk;
  /** Edges that affect the walk and have changed since; all prices may have changed. */
  readonly #changed = new IntList();
  #isWhole = true;
  /** Nodes decided since links were last taken, or all. */
  readonly #decided = new IntList();
  #isAllDecided = true;
  /** The links last taken. */
  readonly #taken = new LinkColumns();
  /** Nodes that may have lost their price since. */
  readonly #left = new Set<number>();
  /** By node: its price as an object, and the number of the walk that it is of. */
  readonly #prices: (TokenPrice | undefined)[] = [];
  readonly #pricedAt: number[] = [];
  /** Unix seconds: the last mark. */
  #mark = Number.NEGATIVE_INFINITY;
  /** Walks over all tokens, and those that decided some again. */
  readonly walks = { whole: 0, local: 0 };
  /** Tries to decide some tokens that have failed since one did not, and blocks without one since there were too many. */
  #failures = 0;
  #skipped = 0;

  constructor(
    anchors: readonly string[],
    rules: WalkRules = DEFAULT_RULES,
    names: EdgeNames = { tokens: new TextNames(), pools: new TextNames() },
  ) {
    this.#edges = new EdgeBook(anchors, { minDepthUsd: rules.minDepthUsd, names });
    this.#walk = new Walk(this.#edges, rules);
    // Stored when the index begins.
    for (const anchor of anchors) this.#setTaken(this.#edges.nodeFor(anchor), { anchorUsd: 1 });
  }

  /** Makes room for so many pools at once. */
  reserve(pools: number): void {
    this.#edges.reserve(pools);
  }

  /**
   * Adds or replaces a pool; prices follow with `update`.
   * @param number of its name, where that is known
   */
  set(edge: PriceEdge, number?: number): void {
    const id = this.#edges.set(edge, number);
    if (id !== undefined) this.#noteChanged(id);
  }

  /** The edge of a pool, by which it is replaced without its name; −1 where it is absent. It is another one after `remove`. */
  edgeNamed(pool: string): number {
    return this.#edges.edgeNamed(pool);
  }

  /** As set, of an edge that is here: its values in the order of edges.ts. */
  replace(edge: number, values: Float64Array, lastTime: number): void {
    if (this.#edges.replace(edge, values, lastTime)) this.#noteChanged(edge);
  }

  /** Replaces an edge's price and what it has held, of such values; prices follow with `update`. */
  setTrusted(edge: number, values: Float64Array): void {
    if (this.#edges.setTrusted(edge, values)) this.#noteChanged(edge);
  }

  #noteChanged(id: number): void {
    if (this.#isWhole || !this.#walk.isAffectedBy(id)) return;
    this.#changed.push(id);
    if (this.#edges.isBetweenAnchors(id) || this.#changed.count > MOST_CHANGED) this.#isWhole = true;
  }

  /** Removes a pool; prices follow with `update`. */
  remove(pool: string): void {
    this.#edges.remove(pool);
    this.#isWhole = true;
  }

  /**
   * Forgets all prices and links, but no pool and not what prices were at the last mark: to continue with the links of an
   * earlier block (`resume`).
   */
  forget(): void {
    this.#walk.forget();
    this.#taken.arc.fill(ABSENT);
    for (let anchor = 0; anchor < this.#edges.anchorCount; anchor++) this.#setTaken(anchor, { anchorUsd: 1 });
    this.#isWhole = true;
  }

  /** Whether this is an edge's price and depth. */
  isAt(edge: number, point: Pick<PriceEdge, "price" | "depth0" | "depth1">): boolean {
    return this.#edges.isAt(edge, point);
  }

  /** Price and depth of an edge as they were last set. */
  pointOf(edge: number): Pick<PriceEdge, "price" | "depth0" | "depth1"> {
    return this.#edges.pointOf(edge);
  }

  /** A pool as it was last set. */
  edge(pool: string): PriceEdge | undefined {
    return this.#edges.edgeOf(pool);
  }

  /** Sets what an anchor's feed says; undefined: it has none that counts. Prices follow with `update`. */
  setAnchorUsd(anchor: string, usd: number | undefined): void {
    const node = this.#edges.nodeNamed(anchor);
    if (node === NONE || node >= this.#edges.anchorCount) return;
    const pegged = usd === undefined ? undefined : atPeg(usd);
    if (this.#walk.given[node] === pegged) return;
    this.#walk.given[node] = pegged;
    this.#isWhole = true;
  }

  /**
   * Continues with the links of an earlier process as the prices in use, which are also taken already.
   * @param links of all priced tokens, anchors too
   * @param marked undefined: as they are here
   */
  resume(links: ReadonlyMap<string, TokenLink>, marked: MarkedPrices | undefined): void {
    for (const [token, link] of links) {
      const node = this.#edges.nodeFor(token);
      this.#setTaken(node, link);
      const price = priceFrom(token, (name) => links.get(name));
      if (price === undefined || isAnchor(link)) continue;
      const { departure, agreedUsd } = link;
      this.#walk.remember(node, { usd: price.usd, departure, agreedUsd });
    }
    if (marked === undefined) return;
    this.#mark = lastMark(marked.now);
    this.#walk.setMarked(new Map([...marked.usd].map(([token, usd]) => [this.#edges.nodeFor(token), usd])));
  }

  /** Prices in use at the last mark, by token. */
  markedPrices(): Map<string, number> {
    return new Map([...this.#walk.marked()].map(([node, usd]) => [this.#edges.nameOf(node), usd]));
  }

  /** Whether the prices at the last mark before a second are here. */
  isMarkedFor(now: number): boolean {
    return lastMark(now) === this.#mark;
  }

  /**
   * Brings prices up to date with the edges and the time.
   * @param now Unix seconds of the block
   */
  update(now: number): void {
    this.#markFor(now);
    if (!this.#isWhole && this.#changed.count === 0 && !this.#walk.hasDeparted) return;
    const decided = this.#isWhole ? undefined : this.#tryLocal(now);
    if (decided === undefined) {
      for (const node of this.#walk.run(now)) this.#left.add(node);
      this.#isAllDecided = true;
      this.walks.whole += 1;
    } else {
      this.#decided.append(decided);
      this.walks.local += 1;
    }
    this.#changed.clear();
    this.#isWhole = false;
  }

  /** What is tried in vain costs a twentieth of a whole walk: where it mostly is, it is hardly tried. */
  #tryLocal(now: number): IntList | undefined {
    if (this.#failures >= MOST_FAILURES && ++this.#skipped % TRY_EACH !== 0) return undefined;
    const decided = this.#walk.runLocal(this.#changed, now);
    this.#failures = decided === undefined ? this.#failures + 1 : 0;
    return decided;
  }

  /** With the first block at or after a mark: the prices in use are those at the end of the last one before it. */
  #markFor(now: number): void {
    const mark = lastMark(now);
    if (mark <= this.#mark) return;
    this.#mark = mark;
    for (const node of this.#walk.mark()) {
      this.#decided.push(node);
      this.#pricedAt[node] = NONE;
    }
  }

  usd(token: string): number | undefined {
    const node = this.#edges.nodeNamed(token);
    return this.#walk.isPriced(node) ? this.#walk.usdOf(node) : undefined;
  }

  price(token: string): TokenPrice | undefined {
    const node = this.#edges.nodeNamed(token);
    if (!this.#walk.isPriced(node)) return undefined;
    // Asked for by every swap of a block.
    const walk = this.walks.whole + this.walks.local;
    if (this.#pricedAt[node] !== walk) {
      this.#pricedAt[node] = walk;
      this.#prices[node] = this.#priceOf(node);
    }
    return this.#prices[node];
  }

  #priceOf(node: number): TokenPrice {
    const usd = this.#walk.usdOf(node);
    const link = this.#linkOf(node);
    return isAnchor(link) ? { usd, hops: 0, link: undefined } : { usd, hops: link.hops, link };
  }

  link(token: string): TokenLink | undefined {
    const node = this.#edges.nodeNamed(token);
    return this.#walk.isPriced(node) ? this.#linkOf(node) : undefined;
  }

  /** Every token that a pool holds, and the anchors. */
  get known(): Iterable<string> {
    return this.#edges.tokenNames();
  }

  /** Every token with a price, anchors too. */
  tokens(): string[] {
    return this.#walk.order.map((node) => this.#edges.nameOf(node));
  }

  /** The link of every token with a price, anchors too: what `resume` continues from. */
  links(): Map<string, TokenLink> {
    return new Map(this.#walk.order.map((node) => [this.#edges.nameOf(node), this.#linkOf(node)]));
  }

  /** Links that changed since they were last taken. */
  takeLinks(): LinkChange[] {
    const changes: LinkChange[] = [];
    this.#taken.reserve(this.#edges.nodeCount);
    if (this.#isAllDecided) for (const node of this.#walk.order) this.#takeLink(node, changes);
    else
      for (let i = 0; i < this.#decided.count; i++) this.#takeLink(this.#decided.items[i] as number, changes);
    this.#isAllDecided = false;
    this.#decided.clear();
    this.#takeGone(changes);
    return changes;
  }

  #takeLink(node: number, into: LinkChange[]): void {
    const { links } = this.#walk;
    if (links.isSame(this.#taken, node)) return;
    this.#taken.copy(links, node);
    into.push({ token: this.#edges.nameOf(node), link: this.#linkOf(node) });
  }

  #takeGone(into: LinkChange[]): void {
    for (const node of this.#left) {
      if (this.#taken.arc[node] === ABSENT || this.#walk.isPriced(node)) continue;
      this.#taken.arc[node] = ABSENT;
      into.push({ token: this.#edges.nameOf(node), link: undefined });
    }
    this.#left.clear();
  }

  #setTaken(node: number, link: TokenLink): void {
    const taken = this.#taken;
    taken.reserve(node + 1);
    this.#left.add(node);
    if (isAnchor(link)) {
      taken.arc[node] = ANCHOR;
      taken.price[node] = link.anchorUsd;
      return;
    }
    const { hops, support, departure, agreedUsd, price, side } = link;
    const edge = this.#edges.edgeNamed(link.pool);
    taken.arc[node] = edge === NONE ? UNKNOWN : 2 * edge + 1 - side;
    taken.price[node] = price;
    taken.hops[node] = hops;
    const supportEdge = this.#edges.edgeNamed(support.pool);
    taken.supportEdge[node] = supportEdge === NONE ? UNKNOWN : supportEdge;
    taken.depthUsd[node] = support.depthUsd;
    taken.restUsd[node] = support.restUsd;
    taken.departedAt[node] = departure?.since ?? Number.NaN;
    taken.departedUsd[node] = departure?.usd ?? Number.NaN;
    taken.agreedUsd[node] = agreedUsd ?? Number.NaN;
  }

  #linkOf(node: number): TokenLink {
    const { links } = this.#walk;
    const arc = links.arc[node] as number;
    const price = links.price[node] as number;
    if (arc === ANCHOR) return { anchorUsd: price };
    const since = links.departedAt[node] as number;
    const agreedUsd = links.agreedUsd[node] as number;
    return {
      token: this.#edges.nameOf(node),
      parent: this.#edges.nameOf(this.#edges.nodeOf(arc)),
      pool: this.#edges.poolOf(arc >> 1),
      side: arc & 1 ? 0 : 1,
      price,
      hops: links.hops[node] as number,
      support: {
        pool: this.#edges.poolOf(links.supportEdge[node] as number),
        depthUsd: links.depthUsd[node] as number,
        restUsd: links.restUsd[node] as number,
      },
      departure: Number.isNaN(since) ? undefined : { since, usd: links.departedUsd[node] as number },
      agreedUsd: Number.isNaN(agreedUsd) ? undefined : agreedUsd,
    };
  }
}
