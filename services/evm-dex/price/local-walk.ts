import { ARC, NEXT, PARENT, USD, VOTE_PRICE, WEIGHT, WIDTH } from "./votes.ts";
import type { WalkRules } from "./walk-rules.ts";
import type { WalkState } from "./walk-state.ts";

const NONE = -1;
/** Pools of changed tokens that are looked at; where there are more, a walk over all takes no longer. */
const MOST_ARCS = 6_000;
/** Numbers kept of a token before it is decided: USD, the departure's two, where all agree. */
const BEFORE = 4;

/**
 * Brings the prices of a walk up to date where few of them change: a token is decided again only if one of its votes, or
 * what its parents have earned, has changed, or while a pool that has left it is not followed.
 *
 * Why the result is that of a walk over all pools: a walk takes the tokens by width, and only pools to tokens taken
 * before vote. So prices follow from the votes and from which of two neighbours was taken first. Here no neighbours
 * change places, and each token is decided after its parents. By induction over the widths every token has the votes,
 * and with them the verdict, that it has in the whole walk. Wherever that is not sure (a token gets or loses its price,
 * neighbours change places or become as wide as each other, hops change) the whole walk is made.
 */
export class LocalWalk {
  readonly #state: WalkState;
  readonly #rules: WalkRules;
  /** Nodes to decide, in a heap: those that the walk took first are first. */
  readonly #heap: number[] = [];
  #isDirty = new Uint8Array(0);
  /** Nodes decided, in this order, and what was used for them before: BEFORE numbers each. */
  readonly decided: number[] = [];
  readonly #before: number[] = [];
  #arcsLeft = 0;
  /** Whether other pools than before make the node at hand as wide as it is. */
  #isTieOpen = false;

  constructor(state: WalkState, rules: WalkRules) {
    this.#state = state;
    this.#rules = rules;
  }

  /**
   * Returns false, with the prices in use as they were, where the whole walk must be made.
   * @param edges that have changed and have or had a vote
   */
  run(edges: readonly number[], now: number): boolean {
    this.#begin();
    const isDone = edges.every((edge) => this.#markEdge(edge)) && this.#decideAll(now);
    for (const node of this.#heap) this.#isDirty[node] = 0;
    this.#heap.length = 0;
    if (!isDone) this.#restore();
    return isDone;
  }

  #begin(): void {
    const count = this.#state.edges.nodeCount;
    if (count > this.#isDirty.length) this.#isDirty = new Uint8Array(2 * count);
    this.decided.length = 0;
    this.#before.length = 0;
    this.#arcsLeft = MOST_ARCS;
    for (const node of this.#state.departed) this.#mark(node);
  }

  #decideAll(now: number): boolean {
    for (let node = this.#pop(); node !== NONE; node = this.#pop())
      if (!this.#decide(node, now)) return false;
    return true;
  }

  #restore(): void {
    const { priced, links } = this.#state;
    for (const [i, node] of this.decided.entries()) {
      const at = BEFORE * i;
      priced.usd[node] = this.#before[at] as number;
      links.departedAt[node] = this.#before[at + 1] as number;
      links.departedUsd[node] = this.#before[at + 2] as number;
      links.agreedUsd[node] = this.#before[at + 3] as number;
    }
  }

  /** Marks the token that a changed pool votes or voted on. Returns false where it prices another one. */
  #markEdge(edge: number): boolean {
    const { edges, priced } = this.#state;
    const [node0, node1] = [edges.nodeOf(2 * edge), edges.nodeOf(2 * edge + 1)];
    const isKnown = node0 !== NONE && node1 !== NONE && priced.has(node0) && priced.has(node1);
    if (!isKnown) return !this.#hasVote(2 * edge, node0) && !this.#hasVote(2 * edge + 1, node1);
    return this.#markOver(priced.isBefore(node0, node1) ? 2 * edge : 2 * edge + 1);
  }

  #hasVote(arc: number, from: number): boolean {
    return (
      from !== NONE && this.#state.priced.has(from) && this.#state.widthOver(arc) >= this.#rules.minDepthUsd
    );
  }

  /** Marks the token that an arc leads to, if it has or had a vote over it. */
  #markOver(arc: number): boolean {
    const { edges, votes, priced } = this.#state;
    const from = edges.nodeOf(arc);
    const to = edges.nodeOf(arc ^ 1);
    const had = votes.has(to, arc >> 1);
    const width = this.#state.widthOver(arc);
    const has = width >= this.#rules.minDepthUsd;
    if (has) priced.need[from] = Math.max(priced.need[from] as number, this.#state.needOver(arc));
    if (has && !had) votes.values[votes.add(to, arc, from) + WIDTH] = Number.NaN;
    if (has || had) this.#mark(to);
    return true;
  }

  #decide(node: number, now: number): boolean {
    const { priced, links, ballot } = this.#state;
    const width = this.#refreshVotes(node);
    if (width === NONE) return false;
    const usdBefore = priced.usd[node] as number;
    const widthBefore = priced.width[node] as number;
    const earnedBefore = priced.earned[node] as number;
    const hopsBefore = priced.hops[node] as number;
    this.decided.push(node);
    const { departedAt, departedUsd, agreedUsd } = links;
    this.#before.push(
      usdBefore,
      departedAt[node] as number,
      departedUsd[node] as number,
      agreedUsd[node] as number,
    );
    this.#state.decide(node, now);
    if (ballot.hops !== hopsBefore) return false;
    if (width === widthBefore ? this.#isTieOpen && this.#hasEqual(node) : !this.#moveTo(node, width))
      return false;
    const isWidthFelt = width !== widthBefore && (priced.need[node] as number) > Math.min(width, widthBefore);
    const earned = priced.earned[node] as number;
    const isEarnedFelt =
      earned !== earnedBefore && (priced.claim[node] as number) > Math.min(earned, earnedBefore);
    if (ballot.usd === usdBefore && !isWidthFelt && !isEarnedFelt) return true;
    return this.#markChildren(node);
  }

  /** Values the votes of a node anew and takes out those that are none any more. Returns the widest, −1 without one. */
  #refreshVotes(node: number): number {
    const { votes, priced } = this.#state;
    const { links, values, first } = votes;
    const level = priced.width[node] as number;
    this.#isTieOpen = false;
    let widest = NONE;
    let before = NONE;
    for (let at = first[node] as number; at !== NONE; at = links[at + NEXT] as number) {
      const arc = links[at + ARC] as number;
      const width = this.#state.widthOver(arc);
      if ((values[at + WIDTH] === level) !== (width === level)) this.#isTieOpen = true;
      if (!(width >= this.#rules.minDepthUsd)) {
        const next = links[at + NEXT] as number;
        if (before === NONE) first[node] = next;
        else links[before + NEXT] = next;
        continue;
      }
      values[at + USD] = this.#state.usdOver(arc, priced.usd[links[at + PARENT] as number] as number);
      values[at + WIDTH] = width;
      values[at + WEIGHT] = width * this.#state.edges.shareOf(arc >> 1);
      values[at + VOTE_PRICE] = this.#state.edges.priceOf(arc >> 1);
      if (width > widest) widest = width;
      before = at;
    }
    return widest;
  }

  /** Marks what a node's pools lead to. Returns false where one prices another token. */
  #markChildren(node: number): boolean {
    const { edges, priced } = this.#state;
    if ((priced.hops[node] as number) >= this.#rules.maxHops) return true;
    if (!edges.isDeepFor(node, priced.usd[node] as number)) return false;
    const start = edges.deep.startOf(node);
    const count = edges.deep.countOf(node);
    this.#arcsLeft -= count;
    if (this.#arcsLeft < 0) return false;
    priced.need[node] = 0;
    for (let place = start; place < start + count; place++) {
      const arc = edges.deep.arc[place] as number;
      const to = edges.deep.to[place] as number;
      if (!priced.has(to)) {
        if (this.#state.widthOver(arc) >= this.#rules.minDepthUsd) return false;
      } else if (priced.isBefore(node, to)) this.#markOver(arc);
    }
    return true;
  }

  /** Whether another node is as wide: which of them is taken first may have changed with their pools. */
  #hasEqual(node: number): boolean {
    const { priced } = this.#state;
    const place = priced.placeOf(node);
    const own = priced.width[node] as number;
    return [place - 1, place + 1].some((at) => priced.width[priced.order[at] ?? NONE] === own);
  }

  /** Moves a node to its place by its new width. Returns false where it passes a neighbour, or meets an equal. */
  #moveTo(node: number, width: number): boolean {
    const { priced } = this.#state;
    const { order } = priced;
    const step = width > (priced.width[node] as number) ? -1 : 1;
    let at = priced.placeOf(node);
    let isFree = true;
    for (; isFree && at + step >= 0 && at + step < order.length; at += step) {
      const other = order[at + step] as number;
      const otherWidth = priced.width[other] as number;
      if (otherWidth !== width && otherWidth > width === step < 0) break;
      isFree = otherWidth !== width && !this.#areNeighbours(node, other);
      order[at] = other;
    }
    order[at] = node;
    priced.width[node] = width;
    return isFree;
  }

  #areNeighbours(node: number, other: number): boolean {
    const usd = this.#state.priced.usd[node] as number;
    const isLast = (this.#state.priced.hops[node] as number) >= this.#rules.maxHops;
    if (!isLast && !this.#state.edges.isDeepFor(node, usd)) return true;
    return this.#leadsTo(node, other) || this.#leadsTo(other, node);
  }

  #leadsTo(from: number, to: number): boolean {
    const { deep } = this.#state.edges;
    const start = deep.startOf(from);
    const count = deep.countOf(from);
    this.#arcsLeft -= count;
    // Where too many have been looked at, it is as if they were neighbours.
    if (this.#arcsLeft < 0) return true;
    for (let place = start; place < start + count; place++) if (deep.to[place] === to) return true;
    return false;
  }

  #mark(node: number): void {
    if (this.#isDirty[node] === 1) return;
    this.#isDirty[node] = 1;
    const [heap, { priced }] = [this.#heap, this.#state];
    let at = heap.push(node) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!priced.isBefore(node, heap[above] as number)) break;
      heap[at] = heap[above] as number;
      at = above;
    }
    heap[at] = node;
  }

  #pop(): number {
    const [heap, { priced }] = [this.#heap, this.#state];
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined) return NONE;
    this.#isDirty[first] = 0;
    if (heap.length === 0) return first;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && priced.isBefore(heap[child + 1] as number, heap[child] as number))
        child += 1;
      if (priced.isBefore(last, heap[child] as number)) break;
      heap[at] = heap[child] as number;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}
