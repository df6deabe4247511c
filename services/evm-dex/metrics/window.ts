import { DAY, HOUR, MINUTE, type Span, startOf } from "./bucket.ts";

export interface TimeRange {
  readonly label: string;
  readonly seconds: number;
  /** Buckets whose closes the volatility is taken of. */
  readonly closeSpan: Span;
}

/** The six ranges of the v3 pool endpoints, in the order of their arrays. A month is 30 days, a year 365. */
export const TIME_RANGES: readonly TimeRange[] = [
  { label: "5 minute", seconds: 5 * MINUTE, closeSpan: MINUTE },
  { label: "1 hour", seconds: HOUR, closeSpan: MINUTE },
  { label: "1 day", seconds: DAY, closeSpan: HOUR },
  { label: "1 week", seconds: 7 * DAY, closeSpan: HOUR },
  { label: "1 month", seconds: 30 * DAY, closeSpan: DAY },
  { label: "1 year", seconds: 365 * DAY, closeSpan: DAY },
];

export const YEAR_SECONDS = 365 * DAY;

/** [start, end), whole minutes. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/** The window that ends with the minute of the indexed head: its current, still open minute is its last. */
export function windowAt(headTime: number, seconds: number): Window {
  const end = startOf(headTime, MINUTE) + MINUTE;
  return { start: end - seconds, end };
}

export interface Segment extends Window {
  readonly span: Span;
}

/**
 * Splits a window that ends at the head into few bucket ranges: minutes up to the first full hour, hours up to the
 * first full day, then days. At the head no finer buckets are needed: the open hour and day hold nothing beyond it.
 */
export function segmentsOf(window: Window): Segment[] {
  const firstHour = Math.min(Math.ceil(window.start / HOUR) * HOUR, window.end);
  const firstDay = Math.min(Math.ceil(window.start / DAY) * DAY, window.end);
  const segments: Segment[] = [
    { span: MINUTE, start: window.start, end: firstHour },
    { span: HOUR, start: firstHour, end: Math.max(firstHour, firstDay) },
    { span: DAY, start: firstDay, end: window.end },
  ];
  return segments.filter((segment) => segment.start < segment.end);
}
