import { type PricePoint, trimPoints, trustedPrice } from "../../price/median.ts";
import { DEFAULT_RULES, type PriceEdge, type TokenPrice, walkPrices } from "../../price/walk.ts";
import type { PoolEntry } from "./pool-book.ts";

/**
 * USD prices of one chain, block by block. A function of the pools' states and their prices of the last five minutes,
 * both of which the rows hold: a book loaded from the store goes on exactly where the one before it stopped.
 */
export class PriceBook {
  readonly #anchors: readonly string[];
  readonly #edges = new Map<string, PriceEdge>();
  readonly #points = new Map<string, PricePoint[]>();
  /** Pools whose trusted price is not their spot price: it moves with time alone. */
  readonly #disputed = new Set<string>();
  #prices: ReadonlyMap<string, TokenPrice> = new Map();

  constructor(anchors: readonly string[]) {
    this.#anchors = anchors;
    this.#prices = walkPrices([], { anchors });
  }

  usd(token: string): number | null {
    return this.#prices.get(token)?.usd ?? null;
  }

  all(): ReadonlyMap<string, TokenPrice> {
    return this.#prices;
  }

  /** Puts a pool on the graph without walking: for loading. The last point is the pool's price now. */
  place(entry: PoolEntry, points: PricePoint[], now: number): void {
    this.#points.set(entry.row.poolAddress, points);
    this.#setEdge(entry, now);
  }

  /** The price a pool had before its first event of this run. */
  anchor(entry: PoolEntry): void {
    const price = priceOf(entry);
    if (price !== undefined) this.#points.set(entry.row.poolAddress, [{ time: 0, price }]);
  }

  /** Takes in the pools a block touched and walks anew if any of them can matter to a price. */
  closeBlock(
    touched: Iterable<PoolEntry>,
    time: number,
    entryOf: (pool: string) => PoolEntry | undefined,
  ): void {
    let matters = false;
    for (const entry of touched) {
      this.#addPoint(entry, time);
      matters = this.#replaceEdge(entry, time) || matters;
    }
    for (const pool of [...this.#disputed]) {
      const entry = entryOf(pool);
      if (entry !== undefined) matters = this.#replaceEdge(entry, time) || matters;
    }
    if (matters) this.walk();
  }

  walk(): void {
    this.#prices = walkPrices(this.#edges.values(), { anchors: this.#anchors });
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

  #replaceEdge(entry: PoolEntry, time: number): boolean {
    const before = this.#edges.get(entry.row.poolAddress);
    const after = this.#setEdge(entry, time);
    return (before !== undefined && this.#counts(before)) || (after !== undefined && this.#counts(after));
  }

  /** Whether the walk would take this edge at today's prices: if not, neither does leaving it out change a price. */
  #counts(edge: PriceEdge): boolean {
    const usd0 = this.#prices.get(edge.token0)?.usd ?? 0;
    const usd1 = this.#prices.get(edge.token1)?.usd ?? 0;
    return edge.depth0 * usd0 >= DEFAULT_RULES.minDepthUsd || edge.depth1 * usd1 >= DEFAULT_RULES.minDepthUsd;
  }

  #setEdge(entry: PoolEntry, time: number): PriceEdge | undefined {
    const pool = entry.row.poolAddress;
    const points = this.#points.get(pool);
    if (points === undefined || points.length === 0) return undefined;
    const edge = toEdge(entry, trustedPrice(points, time));
    this.#edges.set(pool, edge);
    if (edge.price === (points.at(-1) as PricePoint).price) this.#disputed.delete(pool);
    else this.#disputed.add(pool);
    return edge;
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
