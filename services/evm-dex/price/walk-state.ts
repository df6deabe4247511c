import { Ballot, type UsedPrice } from "./ballot.ts";
import type { EdgeBook } from "./edges.ts";
import { larger } from "./larger-array.ts";
import { usdOver } from "./link.ts";
import { LinkColumns } from "./link-columns.ts";
import { PricedTokens } from "./priced-tokens.ts";
import { Votes } from "./votes.ts";

/** No whole token is worth a trillion dollars; what a pool says beyond that is a mistake or a trick. */
export const MAX_USD = 1e12;

/** What a walk has found, for the next one to continue from. */
export class WalkState {
  readonly edges: EdgeBook;
  readonly maxHops: number;
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

  constructor(edges: EdgeBook, maxHops: number) {
    this.edges = edges;
    this.maxHops = maxHops;
    this.ballot = new Ballot({ edges, votes: this.votes, priced: this.priced });
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
    const { priced, links, ballot } = this;
    const since = links.departedAt[node] as number;
    let used = remembered?.usd ?? Number.NaN;
    let departure = remembered?.departure;
    let followedUsd = remembered?.agreedUsd ?? Number.NaN;
    if ((links.arc[node] as number) >= 0) {
      used = priced.usd[node] as number;
      departure = Number.isNaN(since) ? undefined : { since, usd: links.departedUsd[node] as number };
      followedUsd = links.agreedUsd[node] as number;
    }
    const agreed = Number.isNaN(followedUsd) ? (this.markedUsd[node] as number) : followedUsd;
    ballot.decide(node, { used, agreed, departure }, now);
    if (ballot.isFollowed) followedUsd = ballot.usd;
    priced.usd[node] = ballot.usd;
    priced.earned[node] = ballot.earnedUsd;
    priced.hops[node] = ballot.hops;
    links.arc[node] = ballot.arc;
    links.price[node] = ballot.price;
    links.hops[node] = ballot.hops;
    links.supportEdge[node] = ballot.supportEdge;
    links.depthUsd[node] = ballot.depthUsd;
    links.restUsd[node] = ballot.restUsd;
    links.departedAt[node] = ballot.departure?.since ?? Number.NaN;
    links.departedUsd[node] = ballot.departure?.usd ?? Number.NaN;
    links.agreedUsd[node] = followedUsd;
    if (ballot.departure !== undefined) this.departed.add(node);
    else if (this.departed.size > 0) this.departed.delete(node);
    if (!Number.isNaN(followedUsd)) this.followed.add(node);
    else if (this.followed.size > 0) this.followed.delete(node);
  }

  /** USD of the token that an arc leads to; NaN where that is absurd. */
  usdOver(arc: number, parentUsd: number): number {
    const usd = usdOver(this.edges.priceOf(arc >> 1), { side: 1 - (arc & 1), parentUsd });
    return usd > 0 && usd <= MAX_USD ? usd : Number.NaN;
  }

  /** USD in a pool on its thinner side, walked from a priced token; NaN where its price is absurd. */
  needOver(arc: number): number {
    const { edges } = this;
    const parentUsd = this.priced.usd[edges.nodeOf(arc)] as number;
    return Math.min(edges.depthOf(arc) * parentUsd, edges.depthOf(arc ^ 1) * this.usdOver(arc, parentUsd));
  }

  /** USD behind the path over a pool, walked from a priced token; NaN where it does not count. */
  widthOver(arc: number): number {
    const from = this.edges.nodeOf(arc);
    const isEnd = (this.priced.hops[from] as number) >= this.maxHops;
    const isToAnchor = (this.edges.token[arc ^ 1] as number) < this.edges.anchorCount;
    return isEnd || isToAnchor ? Number.NaN : Math.min(this.needOver(arc), this.priced.width[from] as number);
  }
}
