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
 *
 * One neighbour may be as wide as another: an heir, whose only vote as wide as itself is over that parent, which is thinner than the
 * pool between them. It is taken after it in any walk, since nothing else offers it so much. Heirs change with their
 * parent, which would pass them otherwise: a hub that trades in every block mostly has some. Of two as wide that are no neighbours,
 * either may be first until one votes for the other.
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
  /** The parent of that vote; −1 where there are several as wide. */
  #widestParent = NONE;
  /** Whether other pools than before make the node at hand as wide as it is. */
  #isTieOpen = false;
  /** Heirs that went along with their parent and are still to be decided: how wide they were. */
  readonly #widthOfHeir = new Map<number, number>();

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
    const isDone = this.#markEdges(edges) && this.#decideAll(now) && this.#widthOfHeir.size === 0;
    this.#heap.clear();
    if (!isDone) this.#restore();
    return isDone;
  }

  #begin(): void {
    this.#heap.reserve(this.#state.edges.nodeCount);
    this.decided.clear();
    this.#arcsLeft = MOST_ARCS;
    this.#widthOfHeir.clear();
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
    return priced.isBefore(node0, node1)
      ? this.#markOver(2 * edge, node0, node1)
      : this.#markOver(2 * edge + 1, node1, node0);
  }

  /**
   * Marks the token that an arc leads to, if it has or had a vote over it. Returns false for the first vote between two that are as
   * wide: until then it was of no matter which of them is taken first.
   */
  #markOver(arc: number, from: number, to: number): boolean {
    const { votes, priced } = this.#state;
    const had = votes.has(to, arc >> 1);
    const has = this.#state.measure(arc, from);
    if (has && this.#state.needOver > (priced.need[from] as number)) priced.need[from] = this.#state.needOver;
    if (has && !had) votes.values[votes.add(to, arc, from) + WIDTH] = Number.NaN;
    if (has || had) this.#heap.push(to);
    return had || !has || priced.width[from] !== priced.width[to];
  }

  #decide(node: number, now: number): boolean {
    const { priced } = this.#state;
    if (!this.#refreshVotes(node)) return false;
    const width = this.#widest[0] as number;
    const usdBefore = priced.usd[node] as number;
    const place = priced.width[node] as number;
    const widthBefore = this.#widthOfHeir.get(node) ?? place;
    this.#widthOfHeir.delete(node);
    const earnedBefore = priced.earned[node] as number;
    const hopsBefore = priced.hops[node] as number;
    this.#keep(node);
    this.#state.decide(node, now);
    if (priced.hops[node] !== hopsBefore) return false;
    if (width === place ? this.#isTieOpen && this.#hasEqual(node) : !this.#move(node)) return false;
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
    const levelBefore = this.#widthOfHeir.get(node) ?? level;
    this.#isTieOpen = false;
    let widest = NONE;
    let widestParent = NONE;
    let before = NONE;
    for (let at = first[node] as number; at !== NONE; at = links[at + NEXT] as number) {
      const arc = links[at + ARC] as number;
      const isVote = state.measure(arc, links[at + PARENT] as number);
      const width = state.widthOver;
      if ((values[at + WIDTH] === levelBefore) !== (width === level)) this.#isTieOpen = true;
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
      if (width > widest) widestParent = links[at + PARENT] as number;
      else if (width === widest) widestParent = NONE;
      if (width > widest) widest = width;
      before = at;
    }
    this.#widest[0] = widest;
    this.#widestParent = widestParent;
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
      } else if (priced.isBefore(node, to) && !this.#markOver(arcs[place] as number, node, to)) return false;
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

  /** Moves a node to its place by its new width. Returns false where which of two neighbours is taken first may change. */
  #move(node: number): boolean {
    const { width } = this.#state.priced;
    return (this.#widest[0] as number) > (width[node] as number) ? this.#grow(node) : this.#shrink(node);
  }

  /** Passes no neighbour, and comes to be as wide as none but the parent that it is the heir of. */
  #grow(node: number): boolean {
    const { priced } = this.#state;
    const { order } = priced;
    const width = this.#widest[0] as number;
    let at = priced.placeOf(node);
    let isFree = true;
    priced.width[node] = width;
    for (; isFree && at > 0 && priced.isBefore(node, order[at - 1] as number); at--) {
      const other = order[at - 1] as number;
      isFree = !this.#areNeighbours(node, other);
      order[at] = other;
    }
    order[at] = node;
    for (let place = at - 1; isFree && place >= 0; place--) {
      const other = order[place] as number;
      if (priced.width[other] !== width) break;
      isFree = other === this.#widestParent || !this.#areNeighbours(node, other);
    }
    return isFree;
  }

  /** Passes no neighbour but its heirs, and theirs, which go along: they are decided after it, as its children. */
  #shrink(node: number): boolean {
    const { priced } = this.#state;
    const { order } = priced;
    const width = this.#widest[0] as number;
    const before = priced.width[node] as number;
    const moved = [node];
    let to = priced.placeOf(node);
    let isFree = true;
    for (let from = to + 1; isFree && from < order.length; from++) {
      const other = order[from] as number;
      const otherWidth = priced.width[other] as number;
      if (otherWidth < width) break;
      if (otherWidth === before && this.#isHeir(other, moved)) moved.push(other);
      else {
        isFree = otherWidth !== width && !moved.some((each) => this.#areNeighbours(each, other));
        order[to++] = other;
      }
    }
    for (const each of moved) {
      order[to++] = each;
      if (each !== node && !this.#widthOfHeir.has(each)) this.#widthOfHeir.set(each, before);
      priced.width[each] = width;
    }
    if (moved.length > 1) this.#heap.reorder();
    return isFree;
  }

  /**
   * Whether a node has its width over one of these nodes. Where it has it over another one too, it goes back when it is decided,
   * past its neighbour.
   */
  #isHeir(node: number, parents: readonly number[]): boolean {
    const { links, values, first } = this.#state.votes;
    const width = this.#widthOfHeir.get(node) ?? this.#state.priced.width[node];
    for (let at = first[node] as number; at !== NONE; at = links[at + NEXT] as number)
      if (values[at + WIDTH] === width && parents.includes(links[at + PARENT] as number)) return true;
    return false;
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
