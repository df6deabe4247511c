import type { Clock } from "../../request/clock.ts";

export type BreakerState = "closed" | "open" | "half-open";

/**
 * Keeps requests from a replica that fails them, whatever its health says: opens after so many failures in a row,
 * lets one request through after a while, and closes when that one succeeds. Each further failure doubles the while.
 */
export interface Breaker {
  readonly state: BreakerState;
  /** Whether a request may be sent now. */
  allows(): boolean;
  /** Told when a request is sent, and then how it went; `unknown` when nobody waited for its end. */
  begin(): void;
  end(outcome: "success" | "failure" | "unknown"): void;
  /** Forgets what it knows and lets one request through first: the replica was gone, and is back. */
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
    // Requests that were under way when it opened say nothing new.
    if (openUntilMs !== undefined && !isProbing) return;
    if (openUntilMs !== undefined) pauseMs = Math.min(maxPauseMs, pauseMs * 2);
    openUntilMs = clock.monotonicMs() + pauseMs;
    isProbing = false;
  }

  return breaker;
}
