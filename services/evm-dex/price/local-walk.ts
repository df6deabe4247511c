import { IntList } from "./int-list.ts";
import { larger } from "./larger-array.ts";
import { NodeHeap } from "./node-heap.ts";
import { ARC, NEXT, PARENT, USD, VOTE_PRICE, WEIGHT, WIDTH } from "./votes.ts";
import type { WalkState } from "./walk-state.ts";

const NONE = -1;
/** Pools of changed tokens that are looked at; where there are more, a walk over all takes no longer. */
const MOST_ARCS = 6_000;
/** Numbers kept of a token before it is decided: USD, the departure's two, where all agree. */
const BEFORE = 4;
const FIRST_CAPACITY = 256;

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
  /** Nodes to decide. */
  readonly #heap: NodeHeap;
  /** Nodes decided, in this order, and what was used for them before: BEFORE numbers each. */
  readonly decided = new IntList();
  #before = new Float64Array(BEFORE * FIRST_CAPACITY);
  #arcsLeft = 0;
  /** The widest vote of the node at hand: numbers that a function takes or returns may be objects. */
  readonly #widest = new Float64Array(1);
  /** Whether other pools than before make the node at hand as wide as it is. */
  #isTieOpen = false;

  constructor(state: WalkState) {
    this.#state = state;
    this.#heap = new NodeHeap(state.priced);
  }

  /**
   * Returns false, with the prices in use as they were, where the whole walk must be made.
   * @param edges that have changed and have or had a vote
   */
  run(edges: IntList, now: number): boolean {
    this.#begin();
    const isDone = this.#markEdges(edges) && this.#decideAll(now);
    this.#heap.clear();
    if (!isDone) this.#restore();
    return isDone;
  }

  #begin(): void {
    this.#heap.reserve(this.#state.edges.nodeCount);
    this.decided.clear();
    this.#arcsLeft = MOST_ARCS;
    for (const node of this.#state.departed) this.#heap.push(node);
  }

  #markEdges(edges: IntList): boolean {
    for (let i = 0; i < edges.count; i++) if (!this.#markEdge(edges.items[i] as number)) return false;
    return true;
  }

  #decideAll(now: number): boolean {
    for (let node = this.#heap.pop(); node !== NONE; node = this.#heap.pop())
      if (!this.#decide(node, now)) return false;
    return true;
  }

  /** Keeps what is used for a node until now. */
  #keep(node: number): void {
    const { priced, links } = this.#state;
    const at = BEFORE * this.decided.count;
    if (at === this.#before.length) this.#before = larger(this.#before, new Float64Array(2 * at));
    this.#before[at] = priced.usd[node] as number;
    this.#before[at + 1] = links.departedAt[node] as number;
    this.#before[at + 2] = links.departedUsd[node] as number;
    this.#before[at + 3] = links.agreedUsd[node] as number;
    this.decided.push(node);
  }

  #restore(): void {
    const { priced, links } = this.#state;
    for (let i = 0; i < this.decided.count; i++) {
      const node = this.decided.items[i] as number;
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
    const node0 = edges.nodeOf(2 * edge);
    const node1 = edges.nodeOf(2 * edge + 1);
    const has0 = node0 !== NONE && priced.has(node0);
    const has1 = node1 !== NONE && priced.has(node1);
    if (!has0 || !has1) {
      if (has0 && this.#state.measure(2 * edge, node0)) return false;
      return !(has1 && this.#state.measure(2 * edge + 1, node1));
    }
    if (priced.isBefore(node0, node1)) this.#markOver(2 * edge, node0, node1);
    else this.#markOver(2 * edge + 1, node1, node0);
    return true;
  }

  /** Marks the token that an arc leads to, if it has or had a vote over it. */
  #markOver(arc: number, from: number, to: number): void {
    const { votes, priced } = this.#state;
    const had = votes.has(to, arc >> 1);
    const has = this.#state.measure(arc, from);
    if (has && this.#state.needOver > (priced.need[from] as number)) priced.need[from] = this.#state.needOver;
    if (has && !had) votes.values[votes.add(to, arc, from) + WIDTH] = Number.NaN;
    if (has || had) this.#heap.push(to);
  }

  #decide(node: number, now: number): boolean {
    const { priced } = this.#state;
    if (!this.#refreshVotes(node)) return false;
    const width = this.#widest[0] as number;
    const usdBefore = priced.usd[node] as number;
    const widthBefore = priced.width[node] as number;
    const earnedBefore = priced.earned[node] as number;
    const hopsBefore = priced.hops[node] as number;
    this.#keep(node);
    this.#state.decide(node, now);
    if (priced.hops[node] !== hopsBefore) return false;
    if (width === widthBefore ? this.#isTieOpen && this.#hasEqual(node) : !this.#move(node)) return false;
    const isWidthFelt = width !== widthBefore && (priced.need[node] as number) > Math.min(width, widthBefore);
    const earned = priced.earned[node] as number;
    const isEarnedFelt =
      earned !== earnedBefore && (priced.claim[node] as number) > Math.min(earned, earnedBefore);
    if (priced.usd[node] === usdBefore && !isWidthFelt && !isEarnedFelt) return true;
    return this.#markChildren(node);
  }

  /** Values the votes of a node anew and takes out those that are none any more. Returns whether one is left. */
  #refreshVotes(node: number): boolean {
    const state = this.#state;
    const { votes, edges } = state;
    const { links, values, first } = votes;
    const level = state.priced.width[node] as number;
    this.#isTieOpen = false;
    let widest = NONE;
    let before = NONE;
    for (let at = first[node] as number; at !== NONE; at = links[at + NEXT] as number) {
      const arc = links[at + ARC] as number;
      const isVote = state.measure(arc, links[at + PARENT] as number);
      const width = state.widthOver;
      if ((values[at + WIDTH] === level) !== (width === level)) this.#isTieOpen = true;
      if (!isVote) {
        const next = links[at + NEXT] as number;
        if (before === NONE) first[node] = next;
        else links[before + NEXT] = next;
        continue;
      }
      values[at + USD] = state.usdOver;
      values[at + WIDTH] = width;
      values[at + WEIGHT] = width * edges.shareOf(arc >> 1);
      values[at + VOTE_PRICE] = edges.priceOf(arc >> 1);
      if (width > widest) widest = width;
      before = at;
    }
    this.#widest[0] = widest;
    return before !== NONE;
  }

  /** Marks what a node's pools lead to. Returns false where one prices another token. */
  #markChildren(node: number): boolean {
    const { edges, priced } = this.#state;
    if ((priced.hops[node] as number) >= this.#state.rules.maxHops) return true;
    if (!edges.isDeepFor(node, priced.usd[node] as number)) return false;
    const { arc: arcs, to: nodes } = edges.deep;
    const start = edges.deep.startOf(node);
    const end = start + edges.deep.countOf(node);
    this.#arcsLeft -= end - start;
    if (this.#arcsLeft < 0) return false;
    priced.need[node] = 0;
    for (let place = start; place < end; place++) {
      const to = nodes[place] as number;
      if (!priced.has(to)) {
        if (this.#state.measure(arcs[place] as number, node)) return false;
      } else if (priced.isBefore(node, to)) this.#markOver(arcs[place] as number, node, to);
    }
    return true;
  }

  /** Whether another node is as wide: which of them is taken first may have changed with their pools. */
  #hasEqual(node: number): boolean {
    const { order, width } = this.#state.priced;
    const place = this.#state.priced.placeOf(node);
    const own = width[node] as number;
    return width[order[place - 1] ?? NONE] === own || width[order[place + 1] ?? NONE] === own;
  }

  /** Moves a node to its place by its new width. Returns false where it passes a neighbour, or meets an equal. */
  #move(node: number): boolean {
    const { priced } = this.#state;
    const { order } = priced;
    const width = this.#widest[0] as number;
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
    const { priced, rules, edges } = this.#state;
    const isLast = (priced.hops[node] as number) >= rules.maxHops;
    if (!isLast && !edges.isDeepFor(node, priced.usd[node] as number)) return true;
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
}
