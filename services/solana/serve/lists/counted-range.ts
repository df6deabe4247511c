import type { CountedRange } from "./paging.ts";
import type { RowSegment } from "./segment-index.ts";

/** A segment and how many of its rows match the filters. */
export function toCountedRange(
  segment: RowSegment,
  matching: { certain: number; uncertain: number },
): CountedRange {
  return { fromSlot: segment.firstSlot, toSlot: segment.lastSlot, ...matching };
}
