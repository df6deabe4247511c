import { type FeeIndex, type LpPosition, settle } from "./lp-position.ts";
import type { PoolCoverage } from "./pool-windows.ts";
import { feesUsdOf, type V2Bucket } from "./v2-bucket.ts";
import { v2NumbersOf } from "./v2-window.ts";
import type { Window } from "./window.ts";

/** What a pool's days say about windows that end at one midnight. */
export interface PoolPast {
  /** index0 and index1 at that midnight, and at the start of each window. */
  readonly end: FeeIndex;
  readonly starts: readonly FeeIndex[];
  /** By window: the pool's swap fees; null where it is not covered or a fee has no price. */
  readonly feesUsd: readonly (number | null)[];
}

type Day = Readonly<V2Bucket> & { readonly start: number };

/**
 * @param at.days from the longest window's start up to now, in any order
 * @param at.index index0 and index1 of the pool now: those of a midnight are less by the growth since then
 */
export function poolPastOf(at: {
  days: readonly Day[];
  index: FeeIndex;
  windows: readonly Window[];
  coverage: PoolCoverage;
}): PoolPast {
  const { days, index, windows, coverage } = at;
  return {
    end: indexAt(windows[0]?.end ?? 0, { days, index }),
    starts: windows.map(({ start }) => indexAt(start, { days, index })),
    feesUsd: windows.map((window) => {
      const sum = v2NumbersOf(days, { window, coverage });
      return sum === undefined ? null : feesUsdOf(sum);
    }),
  };
}

function indexAt(time: number, { days, index }: { days: readonly Day[]; index: FeeIndex }): FeeIndex {
  let { index0, index1 } = index;
  for (const day of days) {
    if (day.start < time) continue;
    index0 -= day.growth0;
    index1 -= day.growth1;
  }
  return { index0, index1 };
}

/** Fees earned between two times: up to the later one, less up to the earlier one, each with the position then. */
export function earnedBetween(
  start: { position: LpPosition; index: FeeIndex },
  end: { position: LpPosition; index: FeeIndex },
): { earned0: bigint; earned1: bigint } {
  const { position } = start;
  const isStill = start.index.index0 === end.index.index0 && start.index.index1 === end.index.index1;
  // Most pools have no fees in a week: then a position that has not moved has none either.
  if (isStill && position === end.position) return { earned0: 0n, earned1: 0n };
  const before = settle(position, start.index);
  const after = settle(end.position, end.index);
  return { earned0: after.earned0 - before.earned0, earned1: after.earned1 - before.earned1 };
}
