/** Seconds whose median price a pool's price must agree with, and by how much. Source: docs/prices.md. */
export const MEDIAN_SECONDS = 300;
const AGREEMENT = 0.1;

/** A pool's price and depth from a second on. */
export interface Point {
  readonly time: number;
  readonly price: number;
  readonly depth0: number;
  readonly depth1: number;
}

/** Second by second: the spot price where it agrees with the median of the last five minutes, else that median. */
export function trustedPriceAt(
  points: readonly Pick<Point, "time" | "price">[],
  now: number,
): number | undefined {
  const spot = points.at(-1)?.price;
  const held: number[] = [];
  for (let second = now - MEDIAN_SECONDS; second < now; second++) {
    const point = points.findLast(({ time }) => time <= second);
    if (point !== undefined) held.push(point.price);
  }
  const median = held.sort((a, b) => a - b)[Math.ceil(held.length / 2) - 1];
  return spot === undefined || median === undefined || Math.abs(spot / median - 1) <= AGREEMENT
    ? spot
    : median;
}

/** The part of the present depth that was there in each of the last five minutes' seconds, in eighths. */
export function heldShareAt(points: readonly Point[], now: number): number {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || first.time > now - MEDIAN_SECONDS) return 0;
  let held = 1;
  for (let second = now - MEDIAN_SECONDS; second <= now; second++) {
    const point = points.findLast(({ time }) => time <= second);
    if (point === undefined) return 0;
    held = Math.min(held, shareOf(point.depth0, last.depth0), shareOf(point.depth1, last.depth1));
  }
  return Math.floor(held * 8) / 8;
}

function shareOf(depth: number, now: number): number {
  return now > 0 ? depth / now : 0;
}
