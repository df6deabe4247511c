import { ServiceError } from "../../../services/shared/errors.ts";
import type { LimitDecision } from "./limiter.ts";

/** A response, or the list that collects its headers. */
export interface HeaderTarget {
  setHeader(name: string, value: string): unknown;
}

/**
 * The header fields RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers-11 (23 May 2026): lists of
 * quoted policy names with parameters, `"burst";q=5;w=5, "daily";q=1000;w=86400` and `"burst";r=4;t=1, …`.
 * `r` is how many requests could pass at once, `t` the seconds until there is one more; for a refused request it is
 * therefore the Retry-After of that policy (section 6).
 */
export function setLimitHeaders(target: HeaderTarget, decision: LimitDecision): void {
  target.setHeader("RateLimit-Policy", decision.rule.policy);
  target.setHeader("RateLimit", formatLimit(decision));
}

export function formatLimit({ rule, remaining }: Pick<LimitDecision, "rule" | "remaining">): string {
  const burst = `"${rule.burstName}";r=${remaining.burst};t=${toSeconds(remaining.nextUs)}`;
  if (remaining.daily === null) return burst;
  return `${burst}, "daily";r=${remaining.daily};t=${toSeconds(remaining.dayEndsInUs)}`;
}

/**
 * The 429 of a refused request; `what` names what is limited: "requests with this key". Its Retry-After is the true wait:
 * the request passes then, if no other comes before.
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

/** Whole seconds, rounded up so that a retry is not early; at least 1, because a refused request must wait. */
function toSeconds(us: number): number {
  return Math.max(1, Math.ceil(us / 1_000_000));
}
