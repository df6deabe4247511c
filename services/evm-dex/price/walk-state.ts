import { Ballot, type UsedPrice } from "./ballot.ts";
import type { EdgeBook } from "./edges.ts";
import { larger } from "./larger-array.ts";
import { LinkColumns } from "./link-columns.ts";
import { PricedTokens } from "./priced-tokens.ts";
import { Votes } from "./votes.ts";
import type { WalkRules } from "./walk-rules.ts";

/** No whole token is worth a trillion dollars; what a pool says beyond that is a mistake or a trick. */
export const MAX_USD = 1e12;

/** What is measured of an arc, and where. */
const OVER_USD = 0;
const OVER_NEED = 1;
const OVER_WIDTH = 2;

/** What a walk has found, for the next one to continue from. */
export class WalkState {
  readonly edges: EdgeBook;
  readonly rules: WalkRules;
  readonly priced = new PricedTokens();
  readonly votes = new Votes();
  readonly ballot: Ballot;
  /** Of the tokens with a price, what their links say. */
  readonly links = new LinkColumns();
  /** Nodes that a pool has left which is not followed: time alone may change that. */
  readonly departed = new Set<number>();
  /** By node: USD in use at the last mark; NaN: none. */
  markedUsd = new Float64Array(0);
  /** Nodes that followed pools against others since then: all agree where these are (links.agreedUsd). */
  readonly followed = new Set<number>();
  /** Of the arc measured last: numbers that a function returns may be objects. */
  readonly #over = new Float64Array(3);

  constructor(edges: EdgeBook, rules: WalkRules) {
    this.edges = edges;
    this.rules = rules;
    this.ballot = new Ballot({ edges, votes: this.votes, priced: this.priced, links: this.links });
  }

  /** Makes room for all nodes: a walk may come upon new ones. */
  reserve(): void {
    const count = this.edges.nodeCount;
    this.priced.reserve(count);
    this.votes.reserve(count);
    this.links.reserve(count);
    if (count > this.markedUsd.length)
      this.markedUsd = larger(this.markedUsd, new Float64Array(2 * count).fill(Number.NaN));
  }

  /** Makes the prices in use those at the last mark. Returns the nodes whose links say so. */
  mark(): readonly number[] {
    const { priced, links, followed } = this;
    this.markedUsd.fill(Number.NaN);
    for (const node of priced.order) this.markedUsd[node] = priced.usd[node] as number;
    const relinked = [...followed];
    followed.clear();
    for (const node of relinked) links.agreedUsd[node] = Number.NaN;
    return relinked;
  }

  /** Decides on a node by its votes; the price in use is that of the walk before, or `remembered`. */
  decide(node: number, now: number, remembered?: UsedPrice): void {
    const { links, departed, followed } = this;
    const isFollowed = this.ballot.decide(node, now, this.markedUsd, remembered);
    if (isFollowed) links.agreedUsd[node] = this.priced.usd[node] as number;
    if (!Number.isNaN(links.departedAt[node])) departed.add(node);
    else if (departed.size > 0) departed.delete(node);
    if (!Number.isNaN(links.agreedUsd[node])) followed.add(node);
    else if (followed.size > 0) followed.delete(node);
  }

  /**
   * Measures the path over an arc that is walked from a priced token. Returns whether it counts: where it leads
   * further, its price is not absurd, and there is the minimum depth.
   */
  measure(arc: number, from: number): boolean {
    const { edges, priced, rules } = this;
    const parentUsd = priced.usd[from] as number;
    const price = edges.priceOf(arc >> 1);
    // As usdOver() has it.
    let usd = (arc & 1) === 1 ? parentUsd * price : parentUsd / price;
    if (!(usd > 0 && usd <= MAX_USD)) usd = Number.NaN;
    const need = Math.min(edges.depthOf(arc) * parentUsd, edges.depthOf(arc ^ 1) * usd);
    const isEnd = (priced.hops[from] as number) >= rules.maxHops;
    const isToAnchor = (edges.token[arc ^ 1] as number) < edges.anchorCount;
    const width = isEnd || isToAnchor ? Number.NaN : Math.min(need, priced.width[from] as number);
    this.#over[OVER_USD] = usd;
    this.#over[OVER_NEED] = need;
    this.#over[OVER_WIDTH] = width;
    return width >= rules.minDepthUsd;
  }

  /** USD of the token that the arc measured last leads to. */
  get usdOver(): number {
    return this.#over[OVER_USD] as number;
  }

  /** USD in its pool, on the thinner side. */
  get needOver(): number {
    return this.#over[OVER_NEED] as number;
  }

  /** USD behind the path over it; NaN where it leads no further or its price is absurd. */
  get widthOver(): number {
    return this.#over[OVER_WIDTH] as number;
  }
}
