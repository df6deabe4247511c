import { LEAST_SHARE } from "../../shared/pricing/vote-share.ts";
import { DEEP_STRIDE, DeepArcs, FAR, NEAR, PRICE, SHARE } from "./deep-arcs.ts";
import { larger } from "./larger-array.ts";
import type { Names } from "./names.ts";

/** A pool as an edge of the price graph. */
export interface PriceEdge {
  readonly pool: string;
  readonly token0: string;
  readonly token1: string;
  /** token1 per token0, whole tokens, trusted (shared/pricing/median.ts). */
  readonly price: number;
  /**
   * Liquidity behind the price on either side, whole tokens: the smaller of the pool's holdings and its virtual
   * reserve.
   */
  readonly depth0: number;
  readonly depth1: number;
  /** Of the depth, what the pool has held: 0 to 1 (shared/pricing/vote-share.ts). */
  readonly held: number;
  /** Of the held depth, what the pool's age lets vote: 0 to 1. */
  readonly aged: number;
  /** Unix seconds of the pool's last event. */
  readonly lastTime: number;
}

/** Between these multiples of the price a list was made for, it is complete and not much too long. */
const LIST_HOLDS = { from: 0.5, to: 1.2 };
/** A list is made for a price this much higher, so that it still holds a little above `to`. */
const LIST_SLACK = 1.25;
const NONE = -1;
const FIRST_CAPACITY = 1_024;
/** Room for this part of what is expected is not made larger. */
const ENOUGH = 0.8;
/** Values of an edge, and where they are: price, depth on either side, held, aged (PriceEdge). */
export const EDGE_STRIDE = 5;
export const EDGE_PRICE = 0;
export const EDGE_DEPTH = 1;
export const EDGE_HELD = 3;
export const EDGE_AGED = 4;

/** Where the names of tokens and pools are. */
export interface EdgeNames {
  /** Of these edges alone. */
  readonly tokens: Names;
  /** May hold other pools too. */
  readonly pools: Names;
}

/**
 * All pools of a chain as numbers, 72 bytes each beside their names. An edge has two arcs, one to walk it from either
 * side: arc = 2 × edge + side. Of a token's arcs only those that can count at its price are kept ready to be walked;
 * of the 400,000 pools that hold WETH on Base that is one in twenty. Tokens that such an arc leads to are nodes of the
 * walk, numbered closely: of 100,000 tokens a tenth.
 */
export class EdgeBook {
  readonly #tokens: Names;
  readonly #pools: Names;
  /** By edge: its pool; by pool: its edge, or −1. A pool that was removed and comes again has another edge. */
  #poolOf = new Int32Array(FIRST_CAPACITY);
  #edgeOf = new Int32Array(FIRST_CAPACITY).fill(NONE);
  #edgeCount = 0;
  /** By edge, side by side, since a walk reads all of them: price, depth0, depth1, held, aged. */
  #values = new Float64Array(EDGE_STRIDE * FIRST_CAPACITY);
  /** Of the edge that is set. */
  readonly #given = new Float64Array(EDGE_STRIDE);
  #lastTime = new Uint32Array(FIRST_CAPACITY);
  /** By arc: the token it is walked from; of `arc ^ 1`, the token it leads to. */
  token = new Int32Array(2 * FIRST_CAPACITY);
  /** By arc: another arc from the same token. */
  #next = new Int32Array(2 * FIRST_CAPACITY);
  /** By arc: its place among the deep arcs of its token. */
  #place = new Int32Array(2 * FIRST_CAPACITY);
  readonly deep = new DeepArcs((arc, place) => {
    this.#place[arc] = place;
  });
  /** By token: its first arc, and its node. */
  #first = new Int32Array(FIRST_CAPACITY);
  #node = new Int32Array(FIRST_CAPACITY);
  /** By node: its token, its name, and the price that its list of deep arcs is made for; 0: it has no list. */
  readonly #tokenOf: number[] = [];
  readonly #names: string[] = [];
  readonly #deepUsd: number[] = [];
  /** By name. A map of texts is found in a fifth of the time that the table of all names takes. */
  readonly #nodeOf = new Map<string, number>();
  /** Pools between two anchors: what one anchor says of another. */
  readonly anchorEdges: number[] = [];
  readonly #minDepthUsd: number;
  /** Anchors are the first tokens and nodes: no arc to them is ever walked. */
  readonly anchorCount: number;

  constructor(anchors: readonly string[], { minDepthUsd, names }: { minDepthUsd: number; names: EdgeNames }) {
    this.#minDepthUsd = minDepthUsd;
    this.#tokens = names.tokens;
    this.#pools = names.pools;
    for (const anchor of anchors) this.nodeFor(anchor);
    this.anchorCount = this.#tokens.size;
  }

  #tokenId(name: string): number {
    const count = this.#tokens.size;
    const id = this.#tokens.add(name);
    if (id < count) return id;
    if (id === this.#first.length) this.#growTokens(Math.ceil(1.5 * id));
    this.#first[id] = NONE;
    this.#node[id] = NONE;
    return id;
  }

  /** The node of a token, a new one where it has none. */
  nodeFor(name: string): number {
    return this.#makeNode(this.#tokenId(name));
  }

  #makeNode(token: number): number {
    const known = this.#node[token] as number;
    if (known !== NONE) return known;
    const node = this.#tokenOf.push(token) - 1;
    this.#node[token] = node;
    const name = this.#tokens.nameOf(token);
    this.#names.push(name);
    this.#nodeOf.set(name, node);
    this.#deepUsd.push(0);
    this.deep.addNode(node);
    return node;
  }

  get nodeCount(): number {
    return this.#tokenOf.length;
  }

  /** The node of a token, or −1. */
  nodeNamed(name: string): number {
    return this.#nodeOf.get(name) ?? NONE;
  }

  /** The node that an arc is walked from, or −1; of `arc ^ 1`, the one that it leads to. */
  nodeOf(arc: number): number {
    return this.#node[this.token[arc] as number] as number;
  }

  /** The token of a node. */
  nameOf(node: number): string {
    return this.#names[node] as string;
  }

  /** Every token that a pool holds, and the anchors. */
  *tokenNames(): Generator<string> {
    for (let token = 0; token < this.#tokens.size; token++) yield this.#tokens.nameOf(token);
  }

  /** The edge of a pool, or −1. */
  edgeNamed(pool: string): number {
    const number = this.#pools.find(pool);
    return number === NONE ? NONE : (this.#edgeOf[number] ?? NONE);
  }

  /** The pool of an edge. */
  poolOf(edge: number): string {
    return this.#pools.nameOf(this.#poolOf[edge] as number);
  }

  /** Whether the pool of one edge comes before that of another one. */
  isBefore(edge: number, other: number): boolean {
    return this.#pools.isBefore(this.#poolOf[edge] as number, this.#poolOf[other] as number);
  }

  /** token1 per token0. */
  priceOf(edge: number): number {
    return this.#values[EDGE_STRIDE * edge] as number;
  }

  heldOf(edge: number): number {
    return this.#values[EDGE_STRIDE * edge + EDGE_HELD] as number;
  }

  agedOf(edge: number): number {
    return this.#values[EDGE_STRIDE * edge + EDGE_AGED] as number;
  }

  lastTimeOf(edge: number): number {
    return this.#lastTime[edge] as number;
  }

  /** What of a pool's depth votes: more than 0. */
  shareOf(edge: number): number {
    return Math.max(this.heldOf(edge) * this.agedOf(edge), LEAST_SHARE);
  }

  /** Liquidity on the side that the arc is walked from; of `arc ^ 1`, on the other. */
  depthOf(arc: number): number {
    return this.#values[EDGE_STRIDE * (arc >> 1) + EDGE_DEPTH + (arc & 1)] as number;
  }

  /** Whether this is an edge's price and depth. */
  isAt(id: number, point: Pick<PriceEdge, "price" | "depth0" | "depth1">): boolean {
    return (
      this.priceOf(id) === point.price &&
      this.depthOf(2 * id) === point.depth0 &&
      this.depthOf(2 * id + 1) === point.depth1
    );
  }

  pointOf(id: number): Pick<PriceEdge, "price" | "depth0" | "depth1"> {
    return { price: this.priceOf(id), depth0: this.depthOf(2 * id), depth1: this.depthOf(2 * id + 1) };
  }

  /** The pool as it was last set. */
  edgeOf(pool: string): PriceEdge | undefined {
    const id = this.edgeNamed(pool);
    if (id === NONE) return undefined;
    return {
      pool,
      token0: this.#tokens.nameOf(this.token[2 * id] as number),
      token1: this.#tokens.nameOf(this.token[2 * id + 1] as number),
      price: this.priceOf(id),
      depth0: this.depthOf(2 * id),
      depth1: this.depthOf(2 * id + 1),
      held: this.heldOf(id),
      aged: this.agedOf(id),
      lastTime: this.lastTimeOf(id),
    };
  }

  /** Replaces the pool's edge. Returns the edge's number, or undefined where nothing changed. */
  set(edge: PriceEdge, pool = this.#pools.add(edge.pool)): number | undefined {
    const known = this.#edgeOf[pool] ?? NONE;
    const id = known === NONE ? this.#add(edge, pool) : known;
    const given = this.#given;
    given[EDGE_PRICE] = edge.price;
    given[EDGE_DEPTH] = edge.depth0;
    given[EDGE_DEPTH + 1] = edge.depth1;
    given[EDGE_HELD] = edge.held;
    given[EDGE_AGED] = edge.aged;
    return this.replace(id, given, edge.lastTime) || known === NONE ? id : undefined;
  }

  /** Replaces the values of an edge, in their order, and the second of its last event. Returns whether that changed anything. */
  replace(id: number, given: Float64Array, lastTime: number): boolean {
    const values = this.#values;
    let isSame = this.#lastTime[id] === lastTime;
    for (let i = 0, at = EDGE_STRIDE * id; i < EDGE_STRIDE; i++, at++) {
      if (values[at] === given[i]) continue;
      values[at] = given[i] as number;
      isSame = false;
    }
    if (isSame) return false;
    this.#lastTime[id] = lastTime;
    this.#refresh(2 * id);
    this.#refresh(2 * id + 1);
    return true;
  }

  /** Replaces the trusted price of an edge and what it has held, of such values. Returns whether that changed anything. */
  setTrusted(id: number, given: Float64Array): boolean {
    const values = this.#values;
    const at = EDGE_STRIDE * id;
    if (values[at] === given[EDGE_PRICE] && values[at + EDGE_HELD] === given[EDGE_HELD]) return false;
    values[at] = given[EDGE_PRICE] as number;
    values[at + EDGE_HELD] = given[EDGE_HELD] as number;
    this.#refresh(2 * id);
    this.#refresh(2 * id + 1);
    return true;
  }

  /**
   * Makes room for about so many pools at once, and for tokens as for those that are here: to grow leaves copies behind. Not
   * where a few would be missing, since what is expected differs a little with every page that is read.
   */
  reserve(count: number): void {
    if (ENOUGH * EDGE_STRIDE * count <= this.#values.length) return;
    this.#grow(count);
    const tokens = Math.ceil((count * this.#tokens.size) / Math.max(1, this.#edgeCount));
    this.#tokens.reserve(tokens);
    if (tokens > this.#first.length) this.#growTokens(tokens);
  }

  #growTokens(count: number): void {
    this.#first = larger(this.#first, new Int32Array(count));
    this.#node = larger(this.#node, new Int32Array(count));
  }

  #add(edge: PriceEdge, pool: number): number {
    const id = this.#edgeCount++;
    if (EDGE_STRIDE * id === this.#values.length) this.#grow(Math.ceil(1.5 * id));
    if (pool >= this.#edgeOf.length)
      this.#edgeOf = larger(this.#edgeOf, new Int32Array(Math.ceil(1.5 * (pool + 1))).fill(NONE));
    this.#poolOf[id] = pool;
    this.#edgeOf[pool] = id;
    this.#addArc(2 * id, edge.token0);
    this.#addArc(2 * id + 1, edge.token1);
    if (this.isBetweenAnchors(id)) this.anchorEdges.push(id);
    return id;
  }

  #addArc(arc: number, name: string): void {
    const token = this.#tokenId(name);
    this.token[arc] = token;
    this.#next[arc] = this.#first[token] as number;
    this.#first[token] = arc;
    this.#place[arc] = NONE;
  }

  /** Removes the pool: its edge stays, without depth, and another is made if the pool comes again. */
  remove(pool: string): void {
    const id = this.edgeNamed(pool);
    if (id === NONE) return;
    this.#values.fill(0, EDGE_STRIDE * id, EDGE_STRIDE * (id + 1));
    this.#refresh(2 * id);
    this.#refresh(2 * id + 1);
    this.#edgeOf[this.#poolOf[id] as number] = NONE;
  }

  isBetweenAnchors(edge: number): boolean {
    return (
      (this.token[2 * edge] as number) < this.anchorCount &&
      (this.token[2 * edge + 1] as number) < this.anchorCount
    );
  }

  #grow(edges: number): void {
    this.#values = larger(this.#values, new Float64Array(EDGE_STRIDE * edges));
    this.#lastTime = larger(this.#lastTime, new Uint32Array(edges));
    this.token = larger(this.token, new Int32Array(2 * edges));
    this.#next = larger(this.#next, new Int32Array(2 * edges));
    this.#place = larger(this.#place, new Int32Array(2 * edges));
    this.#poolOf = larger(this.#poolOf, new Int32Array(edges));
  }

  /** Brings an arc up to date in the list of its token, if that has one. */
  #refresh(arc: number): void {
    const node = this.nodeOf(arc);
    const usd = node === NONE ? 0 : (this.#deepUsd[node] as number);
    if (usd === 0) return;
    const place = this.#place[arc] as number;
    if (this.#isDeep(arc, usd)) {
      this.#write(arc, place === NONE ? this.#append(node, arc) : place);
    } else if (place !== NONE) {
      this.deep.remove(node, place);
      this.#place[arc] = NONE;
    }
  }

  #append(node: number, arc: number): number {
    const place = this.deep.push(node, arc, this.#makeNode(this.token[arc ^ 1] as number));
    this.#place[arc] = place;
    return place;
  }

  #write(arc: number, place: number): void {
    const edge = arc >> 1;
    const { values } = this.deep;
    const at = DEEP_STRIDE * place;
    values[at + PRICE] = this.priceOf(edge);
    values[at + NEAR] = this.depthOf(arc);
    values[at + FAR] = this.depthOf(arc ^ 1);
    values[at + SHARE] = this.shareOf(edge);
  }

  #isDeep(arc: number, usd: number): boolean {
    const isWalked = (this.token[arc ^ 1] as number) >= this.anchorCount;
    return isWalked && this.depthOf(arc) * usd * LIST_SLACK >= this.#minDepthUsd;
  }

  /** Brings a node's deep arcs up to date: every one that has the minimum depth at this price, and some that have not. */
  prepareDeep(node: number, usd: number): void {
    if (this.isDeepFor(node, usd)) return;
    this.#deepUsd[node] = usd;
    this.deep.clear(node);
    const token = this.#tokenOf[node] as number;
    for (let arc = this.#first[token] as number; arc !== NONE; arc = this.#next[arc] as number) {
      if (this.#isDeep(arc, usd)) this.#write(arc, this.#append(node, arc));
      else this.#place[arc] = NONE;
    }
  }

  /** Whether a node's list of deep arcs is good at this price. */
  isDeepFor(node: number, usd: number): boolean {
    const madeFor = this.#deepUsd[node] as number;
    return madeFor !== 0 && usd >= madeFor * LIST_HOLDS.from && usd <= madeFor * LIST_HOLDS.to;
  }
}
