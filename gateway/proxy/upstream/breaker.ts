import type { Clock } from "../../request/clock.ts";

export type BreakerState = "closed" | "open" | "half-open";

/**
 * Keeps requests from a replica that fails them, whatever its health check returns: opens after `failuresToOpen` in a row,
 * lets one request through after a pause, and closes when that one succeeds. Each further failure doubles the pause.
 */
export interface Breaker {
  readonly state: BreakerState;
  /** Whether a request may be sent now. */
  allows(): boolean;
  /** To be called when a request is sent, and with how it ended; `unknown` when it was cancelled. */
  begin(): void;
  end(outcome: "success" | "failure" | "unknown"): void;
  /** Resets it and lets one request through first: the replica was unreachable and is back. */
  halfOpen(): void;
}

export interface BreakerOptions {
  readonly clock: Clock;
  readonly failuresToOpen?: number;
  readonly firstPauseMs?: number;
  readonly maxPauseMs?: number;
}

export function createBreaker(options: BreakerOptions): Breaker {
  const { clock, failuresToOpen = 5, firstPauseMs = 1_000, maxPauseMs = 30_000 } = options;
  let failures = 0;
  let pauseMs = firstPauseMs;
  /** Undefined while closed. */
  let openUntilMs: number | undefined;
  let isProbing = false;

  const breaker: Breaker = {
    get state() {
      if (openUntilMs === undefined) return "closed";
      return isProbing || clock.monotonicMs() >= openUntilMs ? "half-open" : "open";
    },
    allows: () => openUntilMs === undefined || (!isProbing && clock.monotonicMs() >= openUntilMs),
    begin() {
      if (openUntilMs !== undefined) isProbing = true;
    },
    end(outcome) {
      if (outcome === "success") close();
      else if (outcome === "unknown") isProbing = false;
      else fail();
    },
    halfOpen() {
      close();
      openUntilMs = clock.monotonicMs();
    },
  };

  function close(): void {
    failures = 0;
    pauseMs = firstPauseMs;
    openUntilMs = undefined;
    isProbing = false;
  }

  function fail(): void {
    failures += 1;
    if (openUntilMs === undefined && failures < failuresToOpen) return;
    // Requests that were in flight when it opened add nothing.
    if (openUntilMs !== undefined && !isProbing) return;
    if (openUntilMs !== undefined) pauseMs = Math.min(maxPauseMs, pauseMs * 2);
    openUntilMs = clock.monotonicMs() + pauseMs;
    isProbing = false;
  }

  return breaker;
}
