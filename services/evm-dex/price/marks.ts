/**
 * Seconds from one mark to the next: the prices in use at a mark are where all agreed, for the departures until the next
 * one (docs/decisions/0119). As long as the median of a pool takes.
 */
export const MARK_SECONDS = 300;

/** The last mark at or before a second. */
export function lastMark(time: number): number {
  return Math.floor(time / MARK_SECONDS) * MARK_SECONDS;
}
