import { type Bucket, computeRemaining, computeWaitUs, type RemainingLimit } from "./bucket.ts";
import type { LimitRule } from "./rule.ts";

/**
 * What a limit counts: requests with a key; and, by client address, refused requests (401, 404 and the like), 402
 * responses, payments to verify, look-ups of unknown keys, pages, and OPTIONS requests. Each kind has its own buckets.
 * `/livez` and `/readyz` are not limited: they cost as little as a refusal, and a load balancer that shares its address with
 * a flood must not take the gateway for dead.
 */
export const LIMIT_KINDS = [
  "key",
  "refusal",
  "unpaid",
  "verification",
  "lookup",
  "page",
  "preflight",
] as const;
export type LimitKind = (typeof LIMIT_KINDS)[number];

export interface LimitDecision {
  readonly isAllowed: boolean;
  readonly rule: LimitRule;
  readonly remaining: RemainingLimit;
  /** Microseconds until the request could pass; 0 if it may. */
  readonly waitUs: number;
}

export interface LimitRequest {
  readonly kind: LimitKind;
  /** A key's subject, or the client address (client-address.ts). */
  readonly subject: string;
  readonly rule: LimitRule;
}

/**
 * Decides which requests pass. Never throws or rejects: it decides with or without Redis. A decision that needs no
 * round trip is returned synchronously, because a promise costs more than the decision.
 */
export interface Limiter {
  /** Takes one request, if it fits. */
  take(request: LimitRequest): LimitDecision | Promise<LimitDecision>;
  /** What remains, without taking; `isAllowed` says whether one more request would fit. */
  peek(request: LimitRequest): LimitDecision | Promise<LimitDecision>;
  /** Makes the subject's quota of a UTC day count at least `used` requests. */
  raiseUsage(usage: { readonly subject: string; readonly day: number; readonly used: number }): void;
}

/** `wallUs` is Unix time by the clock that counts the bucket's days. */
export function toDecision(
  isAllowed: boolean,
  { bucket, rule, wallUs }: { readonly bucket: Bucket; readonly rule: LimitRule; readonly wallUs: number },
): LimitDecision {
  const remaining = computeRemaining(bucket, rule, wallUs);
  return { isAllowed, rule, remaining, waitUs: isAllowed ? 0 : computeWaitUs(remaining) };
}
