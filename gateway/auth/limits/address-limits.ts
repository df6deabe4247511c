import type { IncomingMessage, ServerResponse } from "node:http";
import { ServiceError } from "../../../services/shared/errors.ts";
import type { ReadClientAddress } from "./client-address.ts";
import { createRateLimitError, type HeaderTarget, setLimitHeaders } from "./headers.ts";
import type { LimitDecision, Limiter, LimitKind, LimitRequest } from "./limiter.ts";
import type { LookupQueue } from "./lookup-queue.ts";
import type { LimitRule } from "./rule.ts";

export type AddressKind = Exclude<LimitKind, "key">;

/** Limits of who has shown no valid key, by address. */
export interface AddressLimits {
  /**
   * Counts one answer of a kind (or, of verifications, one piece of work) for the address of a request, before it is
   * given (done). Throws `rate_limited`, its headers set, where the address has had too many.
   * For pay per request: `charge("unpaid", …)` before a 402, `charge("verification", …)` before a payment is verified.
   */
  count(kind: AddressKind, req: IncomingMessage, res: ServerResponse): Promise<void>;
  /** What to answer in place of an error: itself, or `rate_limited` where the address has been refused too often. */
  countError(error: unknown, req: IncomingMessage, res: ServerResponse): Promise<unknown>;
  /**
   * Counts the look-up of a key that is not remembered. Beyond the address's own look-ups there is a line for those of
   * all addresses: throws `rate_limited`, its headers set, where that is full. So strangers behind an address cannot
   * keep a new key from being used there, and the store has a bounded number of questions from all of them.
   */
  admitLookup(req: IncomingMessage, to: HeaderTarget): Promise<void>;
}

export interface AddressLimitsOptions {
  readonly limiter: Limiter;
  readonly readAddress: ReadClientAddress;
  readonly rules: Readonly<Record<AddressKind, LimitRule>>;
  /** For look-ups beyond those of an address. */
  readonly lookupQueue: LookupQueue;
}

/** Errors that cost a client nothing to bring about. Those of a valid key are its own (auth/public-limits.ts). */
const COUNTED_ERRORS: ReadonlySet<string> = new Set([
  "bad_request",
  "unauthorized",
  "forbidden",
  "not_found",
  "http_version_not_supported",
]);

export function countsAgainstAddress(error: unknown): error is ServiceError {
  return error instanceof ServiceError && COUNTED_ERRORS.has(error.code);
}

const KIND_TEXT: Readonly<Record<AddressKind, string>> = {
  refusal: "requests from your address that had to be refused",
  unpaid: "requests from your address without a payment",
  verification: "payments from your address to verify",
  lookup: "new keys from your address to look up",
  page: "requests from your address for pages",
  preflight: "OPTIONS requests from your address",
};

export function createAddressLimits({
  limiter,
  readAddress,
  rules,
  lookupQueue,
}: AddressLimitsOptions): AddressLimits {
  const askOf = (kind: AddressKind, req: IncomingMessage): LimitRequest => {
    return { kind, subject: readAddress(req), rule: rules[kind] };
  };
  const refusalOf = (kind: AddressKind, decision: LimitDecision, to: HeaderTarget) => {
    if (decision.isAllowed) return undefined;
    setLimitHeaders(to, decision);
    return createRateLimitError(decision, KIND_TEXT[kind]);
  };
  return {
    async count(kind, req, res) {
      const refusal = refusalOf(kind, await limiter.take(askOf(kind, req)), res);
      if (refusal !== undefined) throw refusal;
    },
    async countError(error, req, res) {
      if (!countsAgainstAddress(error)) return error;
      return refusalOf("refusal", await limiter.take(askOf("refusal", req)), res) ?? error;
    },
    async admitLookup(req, to) {
      const decision = await limiter.take(askOf("lookup", req));
      if (decision.isAllowed || (await lookupQueue.waitForTurn())) return;
      throw refusalOf("lookup", decision, to);
    },
  };
}
