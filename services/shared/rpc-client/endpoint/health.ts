import type { Clock } from "./clock.ts";

export interface HealthOptions {
  /** Consecutive failures that open the circuit. */
  readonly failuresToOpen: number;
  /** How long it stays open the first time; doubles up to `maxOpenMs` while probes fail. */
  readonly openMs: number;
  readonly maxOpenMs: number;
}

/**
 * `ready`: usable. `probe`: the circuit is half open, one request may try. `open` and `cooling` (rate limited): not
 * before `until`. `aside`: unusable as configured; checked again at `until`.
 */
export interface HealthState {
  readonly kind: "ready" | "probe" | "open" | "cooling" | "aside";
  readonly until: number;
}

export interface Health {
  state(): HealthState;
  /** Returns true when this closed an open circuit. */
  succeed(): boolean;
  /** Returns true when this failure opened the circuit. */
  fail(): boolean;
  /** Pauses the endpoint, independent of the circuit. */
  cool(ms: number): void;
  /** Excludes the endpoint. `thenProbe`: afterwards it is half open, not ready, until it succeeds. */
  setAside(ms: number, thenProbe?: boolean): void;
}

/** The circuit breaker and the cool-down of one endpoint. */
export function createHealth(clock: Clock, options: HealthOptions): Health {
  let failures = 0;
  let openUntil = 0;
  let openForMs = options.openMs;
  let isOpen = false;
  let coolUntil = 0;
  let asideUntil = 0;
  let isOnProbation = false;
  return {
    state() {
      const now = clock.now();
      if (asideUntil > now) return { kind: "aside", until: asideUntil };
      if (isOpen && openUntil > now) return { kind: "open", until: Math.max(openUntil, coolUntil) };
      if (coolUntil > now) return { kind: "cooling", until: coolUntil };
      return { kind: isOpen || isOnProbation ? "probe" : "ready", until: now };
    },
    succeed() {
      const wasOpen = isOpen;
      failures = 0;
      isOpen = false;
      // A good response ends this exclusion early: recheck may come before its time is over.
      if (isOnProbation) asideUntil = clock.now();
      isOnProbation = false;
      openForMs = options.openMs;
      return wasOpen;
    },
    fail() {
      failures += 1;
      if (isOpen) {
        openForMs = Math.min(openForMs * 2, options.maxOpenMs);
        openUntil = clock.now() + openForMs;
        return false;
      }
      if (failures < options.failuresToOpen) return false;
      isOpen = true;
      openUntil = clock.now() + openForMs;
      return true;
    },
    cool(ms) {
      coolUntil = Math.max(coolUntil, clock.now() + ms);
    },
    setAside(ms, thenProbe = false) {
      asideUntil = clock.now() + ms;
      isOnProbation = thenProbe;
    },
  };
}
