import { type PricePoint, trimPoints, trustedPrice } from "../../../shared/pricing/median.ts";
import { ageShare, type DepthPoint, heldShare, nextHeldChange } from "../../../shared/pricing/vote-share.ts";
import type { PriceEdge } from "../../price/edges.ts";
import { type LinkChange, PriceGraph } from "../../price/graph.ts";
import type { TokenLink, TokenPrice } from "../../price/link.ts";
import type { WalkRules } from "../../price/walk.ts";
import { AnchorFeeds } from "./anchor-feeds.ts";
import type { PoolEntry } from "./pool-book.ts";

/** A pool's price and depth from a second on. */
export type PoolPoint = PricePoint & DepthPoint;

/**
 * USD prices of one chain, block by block. A function of the pools' states of the last five minutes and of the prices
 * before, both of which the rows hold: loaded from the store, it continues exactly where it stopped.
 */
export class PoolPrices {
  readonly graph: PriceGraph;
  readonly feeds = new AnchorFeeds();
  readonly #points = new Map<string, PoolPoint[]>();
  /** Pools whose trusted price is not their spot price: any second may change it. */
  readonly #disputed = new Set<string>();
  /**
   * By second: pools that have held more of their depth from then on. Nearly all that were traded in the last five
   * minutes, thousands on Base: to look at each of them in every block would cost more than the walk.
   */
  readonly #due = new Map<number, Set<string>>();

  constructor(anchors: readonly string[], rules?: WalkRules) {
    this.graph = new PriceGraph(anchors, rules);
    this.graph.update(0);
  }

  usd(token: string): number | null {
    return this.graph.usd(token) ?? null;
  }

  /** A token's price and what it rests on. */
  price(token: string): TokenPrice | undefined {
    return this.graph.price(token);
  }

  /** Adds a stored pool to the graph. The last point is the pool's current price. */
  loadPool(entry: PoolEntry, points: PoolPoint[], now: number): void {
    this.#points.set(entry.row.poolAddress, points);
    this.#setEdge(entry, now);
  }

  /** Computes the prices of the loaded pools at the last block, whose links these are. */
  resume(links: ReadonlyMap<string, TokenLink>, now: number): void {
    this.graph.resume(links);
    this.graph.update(now);
    this.graph.takeLinks();
  }

  /** Values the anchors by their feeds, as of a block; prices follow with the block. */
  setAnchors(at: { blockNumber: number; time: number }): void {
    for (const [anchor, usd] of this.feeds.at(at.blockNumber, at.time)) this.graph.setAnchorUsd(anchor, usd);
  }

  /** Sets the price and depth of a pool before its first event. */
  anchor(entry: PoolEntry): void {
    const point = pointOf(entry, 0);
    if (point !== undefined) this.#points.set(entry.row.poolAddress, [point]);
  }

  /** Updates the pools that a block touched. Returns the links that changed in this block. */
  closeBlock(
    touched: Iterable<PoolEntry>,
    time: number,
    entryOf: (pool: string) => PoolEntry | undefined,
  ): LinkChange[] {
    for (const entry of touched) {
      this.#addPoint(entry, time);
      this.#setEdge(entry, time);
    }
    for (const pool of this.#takeDue(time)) {
      const entry = entryOf(pool);
      if (entry !== undefined) this.#setEdge(entry, time);
    }
    this.graph.update(time);
    return this.graph.takeLinks();
  }

  /** The pools that time alone changes at this second. */
  #takeDue(time: number): Set<string> {
    const pools = new Set(this.#disputed);
    for (const [second, due] of this.#due) {
      if (second > time) continue;
      for (const pool of due) pools.add(pool);
      this.#due.delete(second);
    }
    return pools;
  }

  #addPoint(entry: PoolEntry, time: number): void {
    const point = pointOf(entry, time);
    if (point === undefined) return;
    const points = this.#points.get(entry.row.poolAddress);
    if (points === undefined) {
      this.#points.set(entry.row.poolAddress, [point]);
      return;
    }
    addPoint(points, point);
  }

  #setEdge(entry: PoolEntry, time: number): void {
    const pool = entry.row.poolAddress;
    const points = this.#points.get(pool);
    const last = points?.at(-1);
    if (points === undefined || last === undefined) return;
    // Also where nothing happens: depth that left before the window must not count in it.
    trimPoints(points, time);
    const edge = toEdge(entry, { price: trustedPrice(points, time), held: heldShare(points, time) });
    this.graph.set(edge);
    if (edge.price === last.price) this.#disputed.delete(pool);
    else this.#disputed.add(pool);
    const due = edge.held === 1 ? undefined : nextHeldChange(points, time);
    if (due === undefined) return;
    const pools = this.#due.get(due);
    if (pools === undefined) this.#due.set(due, new Set([pool]));
    else pools.add(pool);
  }
}

/** Appends a point; two in the same second are one, the later. */
export function addPoint(points: PoolPoint[], point: PoolPoint): void {
  const last = points.at(-1);
  if (last !== undefined && last.time === point.time) points.pop();
  points.push(point);
}

/** The pool's spot price and depth; undefined before it has a price. */
export function pointOf(
  { protocol, state, row }: Pick<PoolEntry, "protocol" | "state" | "row">,
  time: number,
): PoolPoint | undefined {
  const price = protocol.price(state, row);
  if (price === undefined) return undefined;
  const { amount0, amount1 } = protocol.depth(state, row);
  return { time, price, depth0: amount0, depth1: amount1 };
}

/**
 * A pool as an edge. Its age counts up to its last event: a pool that nobody has used since it was created has not
 * earned anything.
 */
function toEdge(
  { protocol, row, state, lastTime }: PoolEntry,
  { price, held }: { price: number; held: number },
): PriceEdge {
  const depth = protocol.depth(state, row);
  return {
    pool: row.poolAddress,
    token0: row.token0Address,
    token1: row.token1Address,
    price,
    depth0: depth.amount0,
    depth1: depth.amount1,
    held,
    aged: ageShare(lastTime - row.createdAt),
  };
}
