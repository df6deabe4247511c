import type { PricePoint } from "../../../shared/pricing/median.ts";
import type { DepthPoint } from "../../../shared/pricing/vote-share.ts";

/** A pool's price and depth from a second on. */
export type PoolPoint = PricePoint & DepthPoint;

/** No edge, no second, no block. */
export const NONE = -1;

/** A pool whose points are kept. Whoever holds it needs no name to look it up by: a block comes to each several times. */
export interface WatchedPool {
  readonly pool: string;
  /** In time order. */
  readonly points: PoolPoint[];
  /** Its edge in the graph; NONE before it has one, and once it is not watched any more. */
  edge: number;
  /** Whether its trusted price is not its spot price. */
  isDisputed: boolean;
  /** Seconds that it waits for already: when its held share may change, and when it may be at rest. */
  heldDue: number;
  restDue: number;
  /** The last block that touched it, and the last one that looked whether time has changed it. */
  touchedIn: number;
  lookedIn: number;
}

export function watchedPool(pool: string, points: PoolPoint[], edge = NONE): WatchedPool {
  return {
    pool,
    points,
    edge,
    isDisputed: false,
    heldDue: NONE,
    restDue: NONE,
    touchedIn: NONE,
    lookedIn: NONE,
  };
}

/** Appends a point; two in the same second are one, the later. */
export function addPoint(points: PoolPoint[], point: PoolPoint): void {
  const last = points[points.length - 1];
  if (last !== undefined && last.time === point.time) points[points.length - 1] = point;
  else points.push(point);
}
