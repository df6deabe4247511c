import type { Counted } from "./paging.ts";
import type { Stretch } from "./stretch-cache.ts";

/** A stretch and how many of its rows are asked for. */
export function runOf(stretch: Stretch, matching: { sure: number; unsure: number }): Counted {
  return { lo: stretch.firstSlot, hi: stretch.lastSlot, ...matching };
}
