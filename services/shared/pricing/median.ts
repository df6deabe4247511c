/** A price and the second from which it held. */
export interface PricePoint {
  readonly time: number;
  readonly price: number;
}

export const MEDIAN_WINDOW_SECONDS = 300;
const AGREEMENT = 0.1;

/**
 * The price a pool is trusted with: its spot price, if that agrees within 10 % with the time-weighted median of the
 * last 5 minutes, else the median. A price pushed away for less than half the window moves nothing.
 * Weights are the seconds a price held up to `now`; where nothing has held for a second yet, the spot price counts.
 * @param points prices in time order; the first may lie before the window and holds since then
 */
export function trustedPrice(points: readonly PricePoint[], now: number): number {
  const last = points[points.length - 1];
  if (last === undefined) throw new RangeError("A pool without a price has no trusted price.");
  const spot = last.price;
  if (agreesWithAll(points, spot)) return spot;
  const median = timeWeightedMedian(points, now);
  return median === undefined || Math.abs(spot / median - 1) <= AGREEMENT ? spot : median;
}

/** If every price of the window is near the spot price, so is the median: the common case needs no sort. */
function agreesWithAll(points: readonly PricePoint[], spot: number): boolean {
  for (const point of points) if (Math.abs(spot / point.price - 1) > AGREEMENT) return false;
  return true;
}

function timeWeightedMedian(points: readonly PricePoint[], now: number): number | undefined {
  const from = now - MEDIAN_WINDOW_SECONDS;
  const held = points
    .map((point, i) => {
      const until = points[i + 1]?.time ?? now;
      return { price: point.price, seconds: Math.max(0, until - Math.max(point.time, from)) };
    })
    .filter((point) => point.seconds > 0)
    .sort((a, b) => a.price - b.price);
  const total = held.reduce((sum, point) => sum + point.seconds, 0);
  let passed = 0;
  for (const point of held) {
    passed += point.seconds;
    if (passed * 2 >= total) return point.price;
  }
  return undefined;
}

/** Drops points that ended before the window; the last one before it stays, since it is valid into it. */
export function trimPoints(points: PricePoint[], now: number): void {
  const from = now - MEDIAN_WINDOW_SECONDS;
  let drop = 0;
  while (drop + 1 < points.length && (points[drop + 1] as PricePoint).time <= from) drop += 1;
  if (drop > 0) points.splice(0, drop);
}
