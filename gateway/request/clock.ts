/** Where the gateway takes the time from; tests bring their own. */
export interface Clock {
  /** Wall clock, Unix milliseconds: expiry and timestamps. */
  nowMs(): number;
  /** Milliseconds from an arbitrary start that never go back: durations and cache ages. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
