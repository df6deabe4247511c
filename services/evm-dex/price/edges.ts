import { larger } from "./larger-array.ts";

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
}

/** The arcs from one token that are deep enough at about `usd`. */
interface DeepList extends DeepArcs {
  readonly usd: number;
  readonly arcs: number[];
  readonly to: number[];
}

/** Arcs, and beside each the token it leads to. */
interface DeepArcs {
  readonly arcs: readonly number[];
  readonly to: readonly number[];
}

/** Between these multiples of the price a list was made for, it is complete and not much too long. */
const LIST_HOLDS = { from: 0.5, to: 1.2 };
/** A list is made for a price this much higher, so that it still holds a little above `to`. */
const LIST_SLACK = 1.25;
const NONE = -1;
const FIRST_CAPACITY = 1_024;
/** Values of an edge, and where they are. */
const STRIDE = 5;
const DEPTH = 1;
const HELD = 3;
const AGED = 4;

/**
 * All pools of a chain as numbers: half a million take some 30 MB. An edge has two arcs, one to walk it from either
 * side: arc = 2 × edge + side. Of a token's arcs only those that can count at its price are kept ready to be walked;
 * of the 400,000 pools that hold WETH on Base that is one in twenty.
 */
export class EdgeBook {
  readonly tokens: string[] = [];
  readonly pools: string[] = [];
  /** By edge, side by side, since a walk reads all of them: price, depth0, depth1, held, aged. */
  #values = new Float64Array(STRIDE * FIRST_CAPACITY);
  /** By arc: the token it is walked from; of `arc ^ 1`, the token it leads to. */
  token = new Int32Array(2 * FIRST_CAPACITY);
  /** By arc: another arc from the same token. */
  #next = new Int32Array(2 * FIRST_CAPACITY);
  /** By arc: its place in its token's list of deep arcs. */
  #place = new Int32Array(2 * FIRST_CAPACITY);
  /** By token. */
  readonly #first: number[] = [];
  readonly #deep: (DeepList | undefined)[] = [];
  readonly #tokenIds = new Map<string, number>();
  readonly #edgeIds = new Map<string, number>();
  /** Pools between two anchors: what one anchor says of another. */
  readonly anchorEdges: number[] = [];
  readonly #minDepthUsd: number;
  /** Anchors are the first tokens: no arc to them is ever walked. */
  readonly anchorCount: number;

  constructor(anchors: readonly string[], minDepthUsd: number) {
    this.#minDepthUsd = minDepthUsd;
    for (const anchor of anchors) this.tokenId(anchor);
    this.anchorCount = this.tokens.length;
  }

  tokenId(token: string): number {
    let id = this.#tokenIds.get(token);
    if (id === undefined) {
      id = this.tokens.push(token) - 1;
      this.#tokenIds.set(token, id);
      this.#first.push(NONE);
      this.#deep.push(undefined);
    }
    return id;
  }

  knownTokenId(token: string): number | undefined {
    return this.#tokenIds.get(token);
  }

  /** token1 per token0. */
  priceOf(edge: number): number {
    return this.#values[STRIDE * edge] as number;
  }

  heldOf(edge: number): number {
    return this.#values[STRIDE * edge + HELD] as number;
  }

  agedOf(edge: number): number {
    return this.#values[STRIDE * edge + AGED] as number;
  }

  /** Liquidity on the side that the arc is walked from; of `arc ^ 1`, on the other. */
  depthOf(arc: number): number {
    return this.#values[STRIDE * (arc >> 1) + DEPTH + (arc & 1)] as number;
  }

  /** Replaces the pool's edge. Returns its number, or undefined where nothing changed. */
  set(edge: PriceEdge): number | undefined {
    const known = this.#edgeIds.get(edge.pool);
    const id = known ?? this.#add(edge);
    const isSame =
      known !== undefined &&
      this.priceOf(id) === edge.price &&
      this.heldOf(id) === edge.held &&
      this.agedOf(id) === edge.aged &&
      this.depthOf(2 * id) === edge.depth0 &&
      this.depthOf(2 * id + 1) === edge.depth1;
    if (isSame) return undefined;
    this.#values[STRIDE * id] = edge.price;
    this.#values[STRIDE * id + HELD] = edge.held;
    this.#values[STRIDE * id + AGED] = edge.aged;
    this.#setDepth(2 * id, edge.depth0);
    this.#setDepth(2 * id + 1, edge.depth1);
    return id;
  }

  #add(edge: PriceEdge): number {
    const id = this.pools.push(edge.pool) - 1;
    this.#edgeIds.set(edge.pool, id);
    if (STRIDE * id === this.#values.length) this.#grow();
    for (const [side, name] of [edge.token0, edge.token1].entries()) {
      const token = this.tokenId(name);
      const arc = 2 * id + side;
      this.token[arc] = token;
      this.#next[arc] = this.#first[token] as number;
      this.#first[token] = arc;
      this.#place[arc] = NONE;
    }
    if (this.isBetweenAnchors(id)) this.anchorEdges.push(id);
    return id;
  }

  isBetweenAnchors(edge: number): boolean {
    return (
      (this.token[2 * edge] as number) < this.anchorCount &&
      (this.token[2 * edge + 1] as number) < this.anchorCount
    );
  }

  #grow(): void {
    const edges = (2 * this.#values.length) / STRIDE;
    this.#values = larger(this.#values, new Float64Array(STRIDE * edges));
    this.token = larger(this.token, new Int32Array(2 * edges));
    this.#next = larger(this.#next, new Int32Array(2 * edges));
    this.#place = larger(this.#place, new Int32Array(2 * edges));
  }

  #setDepth(arc: number, depth: number): void {
    this.#values[STRIDE * (arc >> 1) + DEPTH + (arc & 1)] = depth;
    const deep = this.#deep[this.token[arc] as number];
    if (deep === undefined) return;
    const place = this.#place[arc] as number;
    if (this.#isDeep(arc, deep.usd)) {
      if (place !== NONE) return;
      this.#place[arc] = deep.arcs.push(arc) - 1;
      deep.to.push(this.token[arc ^ 1] as number);
    } else if (place !== NONE) {
      const last = deep.arcs.pop() as number;
      const lastTo = deep.to.pop() as number;
      if (last !== arc) {
        deep.arcs[place] = last;
        deep.to[place] = lastTo;
        this.#place[last] = place;
      }
      this.#place[arc] = NONE;
    }
  }

  #isDeep(arc: number, usd: number): boolean {
    const isWalked = (this.token[arc ^ 1] as number) >= this.anchorCount;
    return isWalked && this.depthOf(arc) * usd * LIST_SLACK >= this.#minDepthUsd;
  }

  /** Every arc from a token that has the minimum depth at this price, and some that have not. */
  deepArcs(token: number, usd: number): DeepArcs {
    const deep = this.#deep[token];
    if (deep !== undefined && usd >= deep.usd * LIST_HOLDS.from && usd <= deep.usd * LIST_HOLDS.to) {
      return deep;
    }
    const arcs: number[] = [];
    for (let arc = this.#first[token] as number; arc !== NONE; arc = this.#next[arc] as number) {
      if (this.#isDeep(arc, usd)) arcs.push(arc);
      else this.#place[arc] = NONE;
    }
    for (const [place, arc] of arcs.entries()) this.#place[arc] = place;
    const made = { usd, arcs, to: arcs.map((arc) => this.token[arc ^ 1] as number) };
    this.#deep[token] = made;
    return made;
  }
}
