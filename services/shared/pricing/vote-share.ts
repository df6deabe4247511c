import { MEDIAN_WINDOW_SECONDS } from "./median.ts";

/** A pool of this age votes with all of its depth. */
export const FULL_AGE_SECONDS = 30 * 86_400;
/**
 * The share of a pool that has earned nothing yet: enough to price a token that has no other pool, too little to
 * outvote a pool that has (10,000 USD of those weigh as much as 10 billion of these).
 */
export const LEAST_SHARE = 1e-6;

/** Depth of a pool from a second on: whole tokens on either side. */
export interface DepthPoint {
  readonly time: number;
  readonly depth0: number;
  readonly depth1: number;
}

/** The share that a pool's age earns: grows evenly from 0 to 1 over 30 days. */
export function ageShare(ageSeconds: number): number {
  return Math.min(1, Math.max(0, ageSeconds / FULL_AGE_SECONDS));
}

/**
 * The share of the present depth that the pool has held for the last five minutes, on the side that held less:
 * liquidity of one block has none. Rounded down to eighths, so that trades which move depth a little change nothing.
 * @param points in time order; the first may lie before the window and holds since then
 */
export function heldShare(points: readonly DepthPoint[], now: number): number {
  const from = now - MEDIAN_WINDOW_SECONDS;
  const last = points.at(-1);
  if (last === undefined || (points[0] as DepthPoint).time > from) return 0;
  let least0 = last.depth0;
  let least1 = last.depth1;
  for (let i = points.length - 2; i >= 0 && (points[i + 1] as DepthPoint).time > from; i--) {
    const { depth0, depth1 } = points[i] as DepthPoint;
    if (depth0 < least0) least0 = depth0;
    if (depth1 < least1) least1 = depth1;
  }
  const held = Math.min(shareOf(least0, last.depth0), shareOf(least1, last.depth1));
  return Math.floor(held * 8) / 8;
}

/**
 * When time alone may next change heldShare: as soon as the oldest point has left the window, or the first one has been
 * there for all of it. Undefined where it will not.
 * @param points trimmed to the window
 */
export function nextHeldChange(points: readonly DepthPoint[], now: number): number | undefined {
  const [first, second] = points;
  if (first === undefined) return undefined;
  if (first.time > now - MEDIAN_WINDOW_SECONDS) return first.time + MEDIAN_WINDOW_SECONDS;
  return second && second.time + MEDIAN_WINDOW_SECONDS;
}

function shareOf(least: number, depth: number): number {
  return depth > 0 ? least / depth : 0;
}
