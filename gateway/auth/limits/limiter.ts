import { type Bucket, computeRemaining, computeWaitUs, type RemainingLimit } from "./bucket.ts";
import type { LimitRule } from "./rule.ts";

/**
 * Whom a limit is for: holders of keys; addresses whose requests are refused (401, 404 and the like), asked to pay (402),
 * have their payments verified, show keys that must be looked up, read pages, or ask by OPTIONS what they may ask. Each
 * kind counts by itself.
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
  /** Microseconds until the request could pass; 0 where it may. */
  readonly waitUs: number;
}

export interface LimitRequest {
  readonly kind: LimitKind;
  /** A key's subject, or the text of addressOf (client-address.ts). */
  readonly subject: string;
  readonly rule: LimitRule;
}

/**
 * Decides who may pass. Never throws and never rejects: a decision is made whether or not Redis is there. What can be
 * decided here is answered at once, since a promise costs more than the decision.
 */
export interface Limiter {
  /** Takes one request, if it fits. */
  take(ask: LimitRequest): LimitDecision | Promise<LimitDecision>;
  /** What is left, without taking; `isAllowed` says whether one more would fit. */
  peek(ask: LimitRequest): LimitDecision | Promise<LimitDecision>;
  /** A number of requests that a subject is known to have had passed on a UTC day: its quota counts at least them. */
  raiseUsage(of: { readonly subject: string; readonly day: number; readonly used: number }): void;
}

/** `wallUs` is Unix time of the clock that the bucket's days are counted by. */
export function toDecision(
  isAllowed: boolean,
  { bucket, rule, wallUs }: { readonly bucket: Bucket; readonly rule: LimitRule; readonly wallUs: number },
): LimitDecision {
  const remaining = computeRemaining(bucket, rule, wallUs);
  return { isAllowed, rule, remaining, waitUs: isAllowed ? 0 : computeWaitUs(remaining) };
}
