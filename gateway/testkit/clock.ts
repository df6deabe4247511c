import type { Clock } from "../request/clock.ts";

/** A clock that stands still until a test advances it. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export function createManualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  let passedMs = 0;
  return {
    nowMs: () => startMs + passedMs,
    monotonicMs: () => passedMs,
    advance(ms) {
      passedMs += ms;
    },
  };
}
