import { type PricePoint, trimPoints, trustedPrice } from "../../../shared/pricing/median.ts";
import type { PriceEdge } from "../../price/edges.ts";
import { type LinkChange, PriceGraph } from "../../price/graph.ts";
import type { PoolEntry } from "./pool-book.ts";

/**
 * USD prices of one chain, block by block. A function of the pools' states and their prices of the last five minutes,
 * both of which the rows hold: loaded from the store, it continues exactly where it stopped.
 */
export class PoolPrices {
  readonly graph: PriceGraph;
  readonly #points = new Map<string, PricePoint[]>();
  /** Pools whose trusted price is not their spot price: it changes with time alone. */
  readonly #disputed = new Set<string>();

  constructor(anchors: readonly string[]) {
    this.graph = new PriceGraph(anchors);
    this.graph.update();
  }

  usd(token: string): number | null {
    return this.graph.usd(token) ?? null;
  }

  /** Adds a stored pool to the graph. The last point is the pool's current price. */
  loadPool(entry: PoolEntry, points: PricePoint[], now: number): void {
    this.#points.set(entry.row.poolAddress, points);
    this.#setEdge(entry, now);
  }

  /** Computes the prices of the loaded pools. Their links are stored already. */
  resume(): void {
    this.graph.update();
    this.graph.takeLinks();
  }

  /** Sets the price of a pool before its first event. */
  anchor(entry: PoolEntry): void {
    const price = priceOf(entry);
    if (price !== undefined) this.#points.set(entry.row.poolAddress, [{ time: 0, price }]);
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
    for (const pool of [...this.#disputed]) {
      const entry = entryOf(pool);
      if (entry !== undefined) this.#setEdge(entry, time);
    }
    this.graph.update();
    return this.graph.takeLinks();
  }

  #addPoint(entry: PoolEntry, time: number): void {
    const price = priceOf(entry);
    if (price === undefined) return;
    const points = this.#points.get(entry.row.poolAddress);
    if (points === undefined) {
      this.#points.set(entry.row.poolAddress, [{ time, price }]);
      return;
    }
    addPoint(points, { time, price });
    trimPoints(points, time);
  }

  #setEdge(entry: PoolEntry, time: number): void {
    const pool = entry.row.poolAddress;
    const points = this.#points.get(pool);
    if (points === undefined || points.length === 0) return;
    const price = trustedPrice(points, time);
    this.graph.set(toEdge(entry, price));
    if (price === (points.at(-1) as PricePoint).price) this.#disputed.delete(pool);
    else this.#disputed.add(pool);
  }
}

/** Appends a price; two in the same second are one, the later. */
export function addPoint(points: PricePoint[], point: PricePoint): void {
  const last = points.at(-1);
  if (last !== undefined && last.time === point.time) points.pop();
  points.push(point);
}

/** The pool's spot price; undefined before it has one. */
export function priceOf({ protocol, state, row }: PoolEntry): number | undefined {
  return protocol.price(state, row);
}

function toEdge({ protocol, row, state }: PoolEntry, price: number): PriceEdge {
  const depth = protocol.depth(state, row);
  return {
    pool: row.poolAddress,
    token0: row.token0Address,
    token1: row.token1Address,
    price,
    depth0: depth.amount0,
    depth1: depth.amount1,
  };
}
