import { anchorPrices } from "./anchor-prices.ts";
import type { UsedPrice } from "./ballot.ts";
import { DEEP_STRIDE, FAR, NEAR, PRICE, SHARE } from "./deep-arcs.ts";
import type { EdgeBook } from "./edges.ts";
import type { IntList } from "./int-list.ts";
import { ABSENT, ANCHOR, type LinkColumns } from "./link-columns.ts";
import { LocalWalk } from "./local-walk.ts";
import { USD, VOTE_PRICE, WEIGHT, WIDTH } from "./votes.ts";
import type { WalkRules } from "./walk-rules.ts";
import { MAX_USD, WalkState } from "./walk-state.ts";
import { WidthQueue } from "./width-queue.ts";

export const NONE = -1;
/**
 * USD prices by a best-first walk from the anchors.
 * A pool's width is the USD behind it on its thinner side, at its own price, and never more than the width of the token
 * it is walked from. The token with the widest pool is priced next, by the weighted median of all its pools that have
 * at least minDepthUsd and lead to tokens priced before it (ballot.ts). So nothing that a token's price rests on
 * is narrower than its own widest pool, and a token that a few thousand dollars price never says anything of one that
 * millions do. A token is at most maxHops pools away from an anchor, by its shortest vote.
 */
export class Walk {
  readonly #edges: EdgeBook;
  readonly #rules: WalkRules;
  readonly #state: WalkState;
  readonly #local: LocalWalk;
  readonly #queue: WidthQueue;
  /** What tokens are known to have been worth before the first walk of this process. */
  readonly #remembered = new Map<number, UsedPrice>();
  /** USD of the anchors by their feeds, by node. */
  readonly given: (number | undefined)[] = [];

  constructor(edges: EdgeBook, rules: WalkRules) {
    this.#edges = edges;
    this.#rules = rules;
    this.#queue = new WidthQueue((edge, other) => edges.isBefore(edge, other));
    this.#state = new WalkState(edges, rules);
    this.#local = new LocalWalk(this.#state);
  }

  /** Whether a pool has left a token and is not followed yet: time alone may change that. */
  get hasDeparted(): boolean {
    return this.#state.departed.size > 0;
  }

  /** Of the tokens with a price, what their links say. */
  get links(): LinkColumns {
    return this.#state.links;
  }

  /** Nodes of the tokens priced, anchors first, then by width. */
  get order(): readonly number[] {
    return this.#state.priced.order;
  }

  isPriced(node: number): boolean {
    return node !== NONE && this.#state.priced.has(node);
  }

  usdOf(node: number): number {
    return this.#state.priced.usd[node] as number;
  }

  /** Forgets what tokens were worth: the next walk is as a first one. */
  forget(): void {
    for (const node of this.order) this.links.arc[node] = ABSENT;
    this.given.length = 0;
  }

  /** Continues from prices of an earlier process. */
  remember(node: number, used: UsedPrice): void {
    this.#remembered.set(node, used);
  }

  /** Makes the prices in use those at the last mark. Returns the nodes whose links say so. */
  mark(): readonly number[] {
    this.#reserve();
    return this.#state.mark();
  }

  /** The prices in use at the last mark, by node. */
  *marked(): Generator<[node: number, usd: number]> {
    for (const [node, usd] of this.#state.markedUsd.entries()) if (!Number.isNaN(usd)) yield [node, usd];
  }

  /** Sets the prices in use at the last mark, by node, as an earlier process had them. */
  setMarked(usd: ReadonlyMap<number, number>): void {
    this.#reserve();
    this.#state.markedUsd.fill(Number.NaN);
    for (const [node, each] of usd) this.#state.markedUsd[node] = each;
  }

  /**
   * Prices the tokens that these edges, all that have changed, or time may change. Returns the nodes that were decided;
   * undefined where all must be priced by `run`.
   * @param now Unix seconds of the block
   */
  runLocal(edges: IntList, now: number): IntList | undefined {
    if (this.#remembered.size > 0 || this.#state.votes.isFull) return undefined;
    this.#state.reserve();
    return this.#local.run(edges, now) ? this.#local.decided : undefined;
  }

  /**
   * Prices all tokens. Returns the nodes that have lost their price.
   * @param now Unix seconds of the block
   */
  run(now: number): number[] {
    const before = this.#begin();
    const { anchorCount } = this.#edges;
    const anchorUsd = anchorPrices(this.#edges, this.#rules.minDepthUsd, this.given);
    for (let node = 0; node < anchorCount; node++) this.#settleAnchor(node, anchorUsd[node] as number);
    for (let node = 0; node < anchorCount; node++) this.#expand(node);
    for (let node = this.#queue.take(); node !== NONE; node = this.#queue.take()) {
      this.#settle(node, now);
      this.#expand(node);
    }
    this.#state.votes.setWhole();
    const left = before.filter((node) => !this.isPriced(node));
    for (const node of left) this.links.arc[node] = ABSENT;
    this.#remembered.clear();
    return left;
  }

  #begin(): readonly number[] {
    const { priced, votes, departed, followed } = this.#state;
    this.#reserve();
    const before = priced.begin();
    votes.clear(before);
    this.#queue.clear();
    departed.clear();
    followed.clear();
    for (const node of before) priced.claim[node] = 0;
    return before;
  }

  #reserve(): void {
    this.#state.reserve();
    this.#queue.reserve(this.#edges.nodeCount);
  }

  #settleAnchor(node: number, usd: number): void {
    this.#state.priced.usd[node] = usd;
    this.#state.priced.width[node] = Number.POSITIVE_INFINITY;
    this.#state.priced.hops[node] = 0;
    this.#state.priced.settle(node);
    this.links.arc[node] = ANCHOR;
    this.links.price[node] = usd;
  }

  #settle(node: number, now: number): void {
    const used = this.#remembered.size > 0 ? this.#remembered.get(node) : undefined;
    this.#state.decide(node, now, used);
    this.#state.priced.width[node] = this.#queue.widthOf(node);
    this.#state.priced.settle(node);
  }

  /** Adds a vote for every token over one more pool. */
  #expand(from: number): void {
    const { priced, votes, edges } = this.#state;
    if ((priced.hops[from] as number) >= this.#rules.maxHops) return;
    const { minDepthUsd } = this.#rules;
    const parentUsd = priced.usd[from] as number;
    const parentWidth = priced.width[from] as number;
    edges.prepareDeep(from, parentUsd);
    this.#reserve();
    const { arc: arcs, to, values } = edges.deep;
    const start = edges.deep.startOf(from);
    const end = start + edges.deep.countOf(from);
    const { current } = priced;
    let need = 0;
    for (let place = start; place < end; place++) {
      const node = to[place] as number;
      if (priced.walk[node] === current) continue;
      const at = DEEP_STRIDE * place;
      const arc = arcs[place] as number;
      const price = values[at + PRICE] as number;
      // As usdOver() has it.
      const usd = (arc & 1) === 1 ? parentUsd * price : parentUsd / price;
      if (!(usd > 0 && usd <= MAX_USD)) continue;
      const near = (values[at + NEAR] as number) * parentUsd;
      const own = Math.min(near, (values[at + FAR] as number) * usd);
      if (own > need) need = own;
      const width = Math.min(own, parentWidth);
      if (!(width >= minDepthUsd)) continue;
      const vote = votes.add(node, arc, from);
      votes.values[vote + USD] = usd;
      votes.values[vote + WIDTH] = width;
      votes.values[vote + WEIGHT] = width * (values[at + SHARE] as number);
      votes.values[vote + VOTE_PRICE] = price;
      this.#queue.offer(node, width, arc >> 1);
    }
    priced.need[from] = need;
  }

  /** Whether a changed edge has a vote, or would now have one. If none has, another walk finds the same prices. */
  isAffectedBy(edge: number): boolean {
    if (this.#edges.isBetweenAnchors(edge)) return true;
    const [arc0, arc1] = [2 * edge, 2 * edge + 1];
    return this.#hasVote(arc0) || this.#hasVote(arc1) || this.#hadVote(arc0) || this.#hadVote(arc1);
  }

  #hadVote(arc: number): boolean {
    const node = this.#edges.nodeOf(arc);
    return node !== NONE && this.#state.votes.has(node, arc >> 1);
  }

  #hasVote(arc: number): boolean {
    const from = this.#edges.nodeOf(arc);
    return this.isPriced(from) && this.#state.measure(arc, from);
  }
}
