import { DAY, HOUR, MINUTE, type Span } from "./bucket.ts";

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

/** The seconds from `start` up to, but not including, `end`. */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/** The last `seconds` seconds up to the head, of which the head's is the last: (head − seconds, head]. */
export function windowAt(headTime: number, seconds: number): Window {
  const end = headTime + 1;
  return { start: end - seconds, end };
}

/** Where the first minute begins that lies wholly within a window; buckets know nothing of the seconds before it. */
export function firstWholeMinute(window: Window): number {
  return Math.ceil(window.start / MINUTE) * MINUTE;
}

/** The seconds of a window that belong to a minute it begins within. */
export interface Edge extends Window {
  /** Start of that minute. */
  readonly minute: number;
}

/** Undefined for a window that begins with a whole minute. */
export function edgeOf(window: Window): Edge | undefined {
  const { start } = window;
  const end = firstWholeMinute(window);
  return start === end ? undefined : { start, end, minute: end - MINUTE };
}

export interface Segment extends Window {
  readonly span: Span;
}

/**
 * Splits a window that ends at the head, but for its edge, into few bucket ranges: minutes up to the first full hour,
 * hours up to the first full day, then days. At the head no finer buckets are needed: the open minute, hour and day hold
 * nothing beyond it.
 */
export function segmentsOf(window: Window): Segment[] {
  const start = firstWholeMinute(window);
  const firstHour = Math.min(Math.ceil(start / HOUR) * HOUR, window.end);
  const firstDay = Math.min(Math.ceil(start / DAY) * DAY, window.end);
  const segments: Segment[] = [
    { span: MINUTE, start, end: firstHour },
    { span: HOUR, start: firstHour, end: Math.max(firstHour, firstDay) },
    { span: DAY, start: firstDay, end: window.end },
  ];
  return segments.filter((segment) => segment.start < segment.end);
}
