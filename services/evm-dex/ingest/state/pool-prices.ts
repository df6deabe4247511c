import { MEDIAN_WINDOW_SECONDS, trimPoints, trustedPrice } from "../../../shared/pricing/median.ts";
import { ageShare, heldShare, nextHeldChange } from "../../../shared/pricing/vote-share.ts";
import { EDGE_AGED, EDGE_DEPTH, EDGE_HELD, EDGE_PRICE, EDGE_STRIDE } from "../../price/edges.ts";
import { type LinkChange, type MarkedPrices, PriceGraph } from "../../price/graph.ts";
import type { TokenLink, TokenPrice } from "../../price/link.ts";
import type { WalkRules } from "../../price/walk-rules.ts";
import type { PriceFacts, Protocol, TokenPair } from "../../protocols/protocol.ts";
import type { PoolRow } from "../../store/collections.ts";
import { AddressTable } from "./address-table.ts";
import { AnchorFeeds } from "./anchor-feeds.ts";
import type { ActivePool, PoolEntry } from "./pool-book.ts";
import { PoolTimers } from "./pool-timers.ts";
import { addPoint, NONE, type PoolPoint, type WatchedPool, watchedPool } from "./watched-pool.ts";

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
   * By name, with prices and depths within the last five minutes, and those before them. Of a pool that has been at rest
   * for longer its edge says the same: of hundreds of thousands a few thousand are here.
   */
  readonly #watched = new Map<string, WatchedPool>();
  /** What pools were before their first event. */
  readonly #anchored = new Map<string, PoolPoint>();
  /** Pools whose trusted price is not their spot price: any second may change it. */
  readonly #disputed = new Set<WatchedPool>();
  readonly #timers = new PoolTimers<WatchedPool>();
  /** Those that are due in the block at hand. */
  readonly #due: WatchedPool[] = [];
  /** By the second of their last point, the pools whose points were forgotten lately. */
  readonly #rested = new PoolTimers<string>();
  /** What the graph is told of the pool at hand: numbers that a function returns may be objects. */
  readonly #values = new Float64Array(EDGE_STRIDE);
  /** Blocks since the start. */
  #block = 0;
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
    return this.#watched.size;
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
    const known = this.#watched.get(pool);
    if (known !== undefined) this.#forget(known);
    const watched = watchedPool(pool, points);
    this.#watched.set(pool, watched);
    this.#setEdge(entry, watched, entry.protocol.depth(entry.state, entry.row), now);
    this.#restOrWait(watched, now);
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
    const watched = this.#watched.get(pool);
    if (watched !== undefined) this.#forget(watched);
    this.#anchored.delete(pool);
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
    this.#block += 1;
    for (const entry of touched) this.#touch(entry, time);
    this.#lookAtDue(time);
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
    for (const watched of this.#watched.values()) {
      const { pool, points, edge } = watched;
      if (changed.has(pool) || (points.at(-1)?.time ?? 0) <= from) continue;
      if (edge === NONE || !reachesBack(points, from)) {
        incomplete.add(pool);
        continue;
      }
      // What it waits for is still to come: as its depth came to count as held its older points were dropped, and as it came
      // to rest it was forgotten.
      this.#trust(watched, to);
      this.graph.setTrusted(edge, this.#values);
      this.#restOrWait(watched, to);
    }
    return { incomplete: [...incomplete], wholeAfter };
  }

  #setNow(time: number): void {
    this.#now = time;
    this.#restedSince = Math.max(this.#restedSince, time - MEDIAN_WINDOW_SECONDS - REWIND_SECONDS);
  }

  /** The points of a pool that are here. */
  pointsOf(pool: string): readonly PoolPoint[] {
    return this.#watched.get(pool)?.points ?? [];
  }

  /** Adds the present point of a pool, and puts it into the graph. */
  #touch(entry: PoolEntry, time: number): void {
    const { protocol, state, row } = entry;
    const price = protocol.price(state, row);
    const watched = this.#watched.get(row.poolAddress) ?? this.#watch(row.poolAddress, price, time);
    if (watched === undefined) return;
    const depth = protocol.depth(state, row);
    if (price !== undefined)
      addPoint(watched.points, { time, price, depth0: depth.amount0, depth1: depth.amount1 });
    this.#setEdge(entry, watched, depth, time);
    watched.touchedIn = this.#block;
  }

  /** Begins with the points of a pool that was at rest; undefined where it has no price and never had one. */
  #watch(pool: string, price: number | undefined, time: number): WatchedPool | undefined {
    const edge = this.graph.edgeNamed(pool);
    const points = this.#pointsBefore(pool, edge);
    if (price === undefined && points.length === 0) return undefined;
    const watched = watchedPool(pool, points, edge);
    this.#watched.set(pool, watched);
    this.#timers.add(time + MEDIAN_WINDOW_SECONDS, watched);
    return watched;
  }

  /** What a pool has been for longer than the window. */
  #pointsBefore(pool: string, edge: number): PoolPoint[] {
    const anchored = this.#anchored.get(pool);
    if (anchored !== undefined) {
      this.#anchored.delete(pool);
      return [anchored];
    }
    if (edge === NONE) return [];
    const { price, depth0, depth1 } = this.graph.pointOf(edge);
    return [{ time: 0, price, depth0, depth1 }];
  }

  #forget(watched: WatchedPool): void {
    this.#watched.delete(watched.pool);
    this.#disputed.delete(watched);
    watched.edge = NONE;
  }

  /** Looks at the pools that time alone may change at this second. */
  #lookAtDue(time: number): void {
    for (const watched of this.#disputed) this.#lookAt(watched, time);
    this.#timers.take(time, this.#due);
    for (const watched of this.#due) this.#lookAt(watched, time);
    this.#due.length = 0;
  }

  #lookAt(watched: WatchedPool, time: number): void {
    if (watched.edge === NONE || watched.lookedIn === this.#block) return;
    watched.lookedIn = this.#block;
    // What this block has touched is as of now already.
    if (watched.touchedIn !== this.#block) {
      this.#trust(watched, time);
      this.graph.setTrusted(watched.edge, this.#values);
    }
    this.#restOrWait(watched, time);
  }

  /** Forgets the points of a pool whose edge says the same, or looks again when it may. */
  #restOrWait(watched: WatchedPool, now: number): void {
    const last = watched.points[watched.points.length - 1];
    if (last === undefined) return;
    const isAtRest = last.time <= now - MEDIAN_WINDOW_SECONDS;
    // An edge's depth is that of the present state, which may have no price.
    if (isAtRest && this.graph.isAt(watched.edge, last)) {
      this.#forget(watched);
      if (isLately(last.time, now)) this.#rested.add(last.time, watched.pool);
      return;
    }
    const due = (isAtRest ? now : last.time) + MEDIAN_WINDOW_SECONDS;
    if (due === watched.restDue) return;
    watched.restDue = due;
    this.#timers.add(due, watched);
  }

  /**
   * Puts a pool into the graph at its trusted price, with the depth of its present state. Its age counts up to its last
   * event: a pool that nobody has used since it was created has not earned anything.
   */
  #setEdge({ row, lastTime }: PoolEntry, watched: WatchedPool, depth: TokenPair, time: number): void {
    if (watched.points.length === 0) return;
    const values = this.#values;
    this.#trust(watched, time);
    values[EDGE_DEPTH] = depth.amount0;
    values[EDGE_DEPTH + 1] = depth.amount1;
    values[EDGE_AGED] = ageShare(lastTime - row.createdAt);
    if (watched.edge === NONE) watched.edge = this.#addEdge(row, lastTime);
    else this.graph.replace(watched.edge, values, lastTime);
  }

  #addEdge({ poolAddress: pool, token0Address: token0, token1Address: token1 }: PoolRow, lastTime: number) {
    const [price = 0, depth0 = 0, depth1 = 0, held = 0, aged = 0] = this.#values;
    this.graph.set({ pool, token0, token1, price, depth0, depth1, held, aged, lastTime });
    return this.graph.edgeNamed(pool);
  }

  /** Writes the price that a pool is trusted with into the values, and what it has held of its depth. */
  #trust(watched: WatchedPool, time: number): void {
    const { points } = watched;
    // Also where nothing happens: depth that left before the window must not count in it.
    trimPoints(points, time);
    const price = trustedPrice(points, time);
    const held = heldShare(points, time);
    const isDisputed = price !== points[points.length - 1]?.price;
    if (isDisputed !== watched.isDisputed) {
      watched.isDisputed = isDisputed;
      if (isDisputed) this.#disputed.add(watched);
      else this.#disputed.delete(watched);
    }
    const due = held === 1 ? undefined : nextHeldChange(points, time);
    if (due !== undefined && due !== watched.heldDue) {
      watched.heldDue = due;
      this.#timers.add(due, watched);
    }
    this.#values[EDGE_PRICE] = price;
    this.#values[EDGE_HELD] = held;
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
