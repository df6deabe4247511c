import { ServiceError } from "../../../services/shared/errors.ts";
import type { LimitDecision } from "./limiter.ts";

/** A response, or the list that its headers are collected in. */
export interface HeaderTarget {
  setHeader(name: string, value: string): unknown;
}

/**
 * The header fields RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers-11 (23 May 2026): lists of
 * quoted policy names with parameters, `"burst";q=5;w=5, "daily";q=1000;w=86400` and `"burst";r=4;t=1, …`.
 * `r` is what could be asked at once, `t` the seconds within which it can be no more; for a refused request it is
 * therefore the Retry-After of that policy (section 6).
 */
export function setLimitHeaders(to: HeaderTarget, decision: LimitDecision): void {
  to.setHeader("RateLimit-Policy", decision.rule.policy);
  to.setHeader("RateLimit", formatLimit(decision));
}

export function formatLimit({ rule, remaining }: Pick<LimitDecision, "rule" | "remaining">): string {
  const burst = `"${rule.burstName}";r=${remaining.burst};t=${toSeconds(remaining.nextUs)}`;
  if (remaining.daily === null) return burst;
  return `${burst}, "daily";r=${remaining.daily};t=${toSeconds(remaining.dayEndsInUs)}`;
}

/**
 * The refusal of a request that does not fit, in terms of `what` is limited: "requests of this key". Its Retry-After is
 * the true wait: a request fits then, if none comes before.
 */
export function createRateLimitError({ remaining, rule, waitUs }: LimitDecision, what: string): ServiceError {
  const retryAfterSeconds = toSeconds(waitUs);
  const limit =
    remaining.daily === 0
      ? `${rule.dailyQuota} a UTC day`
      : `${rule.burst} at once and ${rule.ratePerSecond} a second in the long run`;
  return new ServiceError(
    "rate_limited",
    `Too many ${what}: the limit is ${limit}. Try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds },
  );
}

/** Whole seconds, rounded up: who comes back then is not early. At least 1: a refused request must wait. */
function toSeconds(us: number): number {
  return Math.max(1, Math.ceil(us / 1_000_000));
}
