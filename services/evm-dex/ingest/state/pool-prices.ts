import {
  MEDIAN_WINDOW_SECONDS,
  type PricePoint,
  trimPoints,
  trustedPrice,
} from "../../../shared/pricing/median.ts";
import { ageShare, type DepthPoint, heldShare, nextHeldChange } from "../../../shared/pricing/vote-share.ts";
import { type LinkChange, type MarkedPrices, PriceGraph } from "../../price/graph.ts";
import type { TokenLink, TokenPrice } from "../../price/link.ts";
import type { WalkRules } from "../../price/walk-rules.ts";
import type { PriceFacts, Protocol } from "../../protocols/protocol.ts";
import { AddressTable } from "./address-table.ts";
import { AnchorFeeds } from "./anchor-feeds.ts";
import type { ActivePool, PoolEntry } from "./pool-book.ts";
import { PoolTimers } from "./pool-timers.ts";

/** A pool's price and depth from a second on. */
export type PoolPoint = PricePoint & DepthPoint;

/** How far a rollback may go back before the points of all pools with a recent event are read again. */
const REWIND_SECONDS = 300;

/**
 * USD prices of one chain, block by block. A function of the pools' states of the last five minutes and of the prices
 * before and at the last mark, all of which the rows hold: loaded from the store, it continues exactly where it stopped.
 *
 * Time alone changes three things, each known beforehand: which price of a disputed pool is its median (any second),
 * what part of its depth a pool has held (`nextHeldChange`), and which prices are held against pools that have left
 * the others (the walk's own). A pool's age counts up to its last event.
 */
export class PoolPrices {
  readonly graph: PriceGraph;
  readonly feeds = new AnchorFeeds();
  readonly #addresses: AddressTable;
  /**
   * Prices and depths within the last five minutes, and those before them. Of a pool that has been at rest for longer its
   * edge says the same: of hundreds of thousands a few thousand are here.
   */
  readonly #points = new Map<string, PoolPoint[]>();
  /** What pools were before their first event. */
  readonly #anchored = new Map<string, PoolPoint>();
  /** Pools whose trusted price is not their spot price: any second may change it. */
  readonly #disputed = new Set<string>();
  readonly #timers = new PoolTimers();
  /** By the second of their last point, the pools whose points were forgotten lately. */
  readonly #rested = new PoolTimers();
  /** The second of the last block: no point was dropped that is within five minutes of it. */
  #now = 0;
  /** Of pools that came to rest with an event after this second it is known. It never falls, though time may. */
  #restedSince = 0;

  /** @param pools addresses of the chain's pools, these and others */
  constructor(
    anchors: readonly string[],
    { rules, pools = new AddressTable() }: { rules?: WalkRules; pools?: AddressTable } = {},
  ) {
    this.#addresses = pools;
    this.graph = new PriceGraph(anchors, rules, { tokens: new AddressTable(), pools });
    this.graph.update(0);
  }

  /** Pools that have had an event in the last five minutes, and some that have not. */
  get activeCount(): number {
    return this.#points.size;
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
    const pool = entry.row.poolAddress;
    this.#points.set(pool, points);
    this.#setEdge(entry, points, now);
    this.#restOrWait(pool, points, now);
  }

  /** As loadPool of a pool without an event in the last five minutes: it needs no points, and most pools are such. */
  loadResting({ number, row, protocol, state, lastBlock, lastTime }: ActivePool, now: number): void {
    const { poolAddress: pool, token0Address: token0, token1Address: token1, createdAt } = row;
    const point = protocol.readPoint(state, row);
    if (point === undefined) return;
    const { price, depth0, depth1 } = point;
    // What it was before the index, it has always been.
    const time = lastBlock < 0 ? 0 : lastTime;
    const held = heldShare([{ time, depth0, depth1 }], now);
    const aged = ageShare(lastTime - createdAt);
    this.graph.set({ pool, token0, token1, price, depth0, depth1, held, aged, lastTime }, number);
    if (isLately(time, now)) this.#rested.add(time, this.#addresses.nameOf(number));
  }

  /** Removes a pool that has no price any more. */
  unload(pool: string): void {
    this.#points.delete(pool);
    this.#anchored.delete(pool);
    this.#disputed.delete(pool);
    this.graph.remove(pool);
  }

  /**
   * Computes the prices of the loaded pools at the last block, whose links these are.
   * @param marked prices at the last mark; undefined: as they are here
   */
  resume(links: ReadonlyMap<string, TokenLink>, now: number, marked: MarkedPrices | undefined): void {
    this.#setNow(now);
    this.graph.resume(links, marked);
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
    if (point !== undefined) this.#anchored.set(entry.row.poolAddress, point);
  }

  /** Updates the pools that a block touched. Returns the links that changed in this block. */
  closeBlock(touched: Iterable<PoolEntry>, time: number): LinkChange[] {
    this.#setNow(time);
    this.#rested.drop(this.#restedSince);
    for (const entry of touched) this.#setEdge(entry, this.#addPoint(entry, time), time);
    for (const pool of this.#takeDue(time)) {
      const points = this.#points.get(pool);
      if (points === undefined || !this.graph.has(pool)) continue;
      this.graph.setTrusted(pool, this.#trust(pool, points, time));
      this.#restOrWait(pool, points, time);
    }
    this.graph.update(time);
    return this.graph.takeLinks();
  }

  /**
   * Goes back to an earlier second with the pools that are the same as then, but for those whose points of the five
   * minutes before it are no longer all here. Returns these, and from which second on points are whole; undefined where
   * it is too far back to know them.
   * @param changed pools that are not the same: these are left to the caller
   */
  rewind(to: number, changed: ReadonlySet<string>): { incomplete: string[]; wholeAfter: number } | undefined {
    const from = to - MEDIAN_WINDOW_SECONDS;
    const wholeAfter = this.#now - MEDIAN_WINDOW_SECONDS;
    const rested = this.#rested.takeAfter(from);
    if (from < this.#restedSince) return undefined;
    const incomplete = new Set([...rested].filter((pool) => !changed.has(pool)));
    for (const [pool, points] of this.#points) {
      if (changed.has(pool) || (points.at(-1)?.time ?? 0) <= from) continue;
      if (!this.graph.has(pool) || !reachesBack(points, from)) {
        incomplete.add(pool);
        continue;
      }
      this.graph.setTrusted(pool, this.#trust(pool, points, to));
      this.#restOrWait(pool, points, to);
    }
    return { incomplete: [...incomplete], wholeAfter };
  }

  #setNow(time: number): void {
    this.#now = time;
    this.#restedSince = Math.max(this.#restedSince, time - MEDIAN_WINDOW_SECONDS - REWIND_SECONDS);
  }

  /** The points of a pool that are here. */
  pointsOf(pool: string): readonly PoolPoint[] {
    return this.#points.get(pool) ?? [];
  }

  /** The pools that time alone changes at this second. */
  #takeDue(time: number): Set<string> {
    const pools = new Set(this.#disputed);
    this.#timers.take(time, pools);
    return pools;
  }

  /** The pool's points with the present one. */
  #addPoint(entry: PoolEntry, time: number): PoolPoint[] {
    const pool = entry.row.poolAddress;
    const known = this.#points.get(pool);
    const points = known ?? this.#pointsBefore(pool);
    const point = pointOf(entry, time);
    if (point !== undefined) addPoint(points, point);
    if (known !== undefined || points.length === 0) return points;
    this.#points.set(pool, points);
    this.#timers.add(time + MEDIAN_WINDOW_SECONDS, pool);
    return points;
  }

  /** What a pool has been for longer than the window. */
  #pointsBefore(pool: string): PoolPoint[] {
    const anchored = this.#anchored.get(pool);
    if (anchored !== undefined) {
      this.#anchored.delete(pool);
      return [anchored];
    }
    const point = this.graph.pointOf(pool);
    return point === undefined ? [] : [{ time: 0, ...point }];
  }

  /** Forgets the points of a pool whose edge says the same, or looks again when it may. */
  #restOrWait(pool: string, points: readonly PoolPoint[], now: number): void {
    const last = points.at(-1);
    // An edge's depth is that of the present state, which may have no price.
    const isSame = last && this.graph.isAt(pool, last);
    if (isSame === undefined || last === undefined) return;
    const isAtRest = last.time <= now - MEDIAN_WINDOW_SECONDS;
    if (isAtRest && isSame) {
      this.#points.delete(pool);
      if (isLately(last.time, now)) this.#rested.add(last.time, pool);
    } else this.#timers.add((isAtRest ? now : last.time) + MEDIAN_WINDOW_SECONDS, pool);
  }

  /**
   * Puts a pool into the graph at its trusted price, with the depth of its present state. Its age counts up to its last
   * event: a pool that nobody has used since it was created has not earned anything.
   */
  #setEdge({ protocol, row, state, lastTime }: PoolEntry, points: PoolPoint[], time: number): void {
    if (points.length === 0) return;
    const { amount0: depth0, amount1: depth1 } = protocol.depth(state, row);
    const { poolAddress: pool, token0Address: token0, token1Address: token1, createdAt } = row;
    const { price, held } = this.#trust(pool, points, time);
    const aged = ageShare(lastTime - createdAt);
    this.graph.set({ pool, token0, token1, price, depth0, depth1, held, aged, lastTime });
  }

  /** The price that a pool is trusted with, and what it has held of its depth. */
  #trust(pool: string, points: PoolPoint[], time: number): { price: number; held: number } {
    // Also where nothing happens: depth that left before the window must not count in it.
    trimPoints(points, time);
    const price = trustedPrice(points, time);
    const held = heldShare(points, time);
    if (price === points.at(-1)?.price) this.#disputed.delete(pool);
    else this.#disputed.add(pool);
    const due = held === 1 ? undefined : nextHeldChange(points, time);
    if (due !== undefined) this.#timers.add(due, pool);
    return { price, held };
  }
}

/** Whether a rollback may ask for a pool that rests since its last event at this second. */
function isLately(lastTime: number, now: number): boolean {
  return lastTime > now - MEDIAN_WINDOW_SECONDS - REWIND_SECONDS;
}

/** Whether points say what a pool was at this second. */
export function reachesBack(points: readonly PoolPoint[], time: number): boolean {
  const [first] = points;
  return first !== undefined && first.time <= time;
}

/** Appends a point; two in the same second are one, the later. */
export function addPoint(points: PoolPoint[], point: PoolPoint): void {
  const last = points.at(-1);
  if (last !== undefined && last.time === point.time) points.pop();
  points.push(point);
}

/** The pool's spot price and depth; undefined before it has a price. */
export function pointOf(
  { protocol, state, row }: Pick<PoolEntry, "protocol" | "state"> & { readonly row: PriceFacts },
  time: number,
): PoolPoint | undefined {
  const price = protocol.price(state, row);
  if (price === undefined) return undefined;
  const { amount0, amount1 } = protocol.depth(state, row);
  return { time, price, depth0: amount0, depth1: amount1 };
}

/** The same of a state as its protocol writes it. */
export function storedPointOf(
  { protocol, row }: { readonly protocol: Protocol; readonly row: PriceFacts },
  state: string,
  time: number,
): PoolPoint | undefined {
  const point = protocol.readPoint(state, row);
  return point && { time, price: point.price, depth0: point.depth0, depth1: point.depth1 };
}
