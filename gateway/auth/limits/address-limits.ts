import type { IncomingMessage, ServerResponse } from "node:http";
import { ServiceError } from "../../../services/shared/errors.ts";
import type { ReadClientAddress } from "./client-address.ts";
import { createRateLimitError, type HeaderTarget, setLimitHeaders } from "./headers.ts";
import type { LimitDecision, Limiter, LimitKind, LimitRequest } from "./limiter.ts";
import type { LookupQueue } from "./lookup-queue.ts";
import type { LimitRule } from "./rule.ts";

export type AddressKind = Exclude<LimitKind, "key">;

/** Limits by client address, for requests without a valid key. */
export interface AddressLimits {
  /** The client that a request counts for. */
  addressOf: ReadClientAddress;
  /**
   * Counts one response of a kind (or one payment to verify) for the request's address, before it is sent (verified).
   * Throws `rate_limited`, with its headers set, if the address has had too many.
   * Pay-per-request: `count("unpaid", …)` before a 402, `count("verification", …)` before a payment is verified.
   */
  count(kind: AddressKind, req: IncomingMessage, res: ServerResponse): Promise<void>;
  /** Returns the error to send: the given one, or `rate_limited` if the address has been refused too often. */
  countError(error: unknown, req: IncomingMessage, res: ServerResponse): Promise<unknown>;
  /**
   * Counts the look-up of a key that is not cached. Look-ups beyond the address's own budget share one queue of all
   * addresses: throws `rate_limited`, with its headers set, if that queue is full. So other clients behind an address
   * cannot block a new key there, and the store gets a bounded number of look-ups from all of them. Refusing them
   * instead would be simpler, and would let any neighbour lock a customer out.
   */
  admitLookup(req: IncomingMessage, target: HeaderTarget): Promise<void>;
}

interface AddressLimitsOptions {
  readonly limiter: Limiter;
  readonly readAddress: ReadClientAddress;
  readonly rules: Readonly<Record<AddressKind, LimitRule>>;
  /** For look-ups beyond the budget of an address. */
  readonly lookupQueue: LookupQueue;
}

/** Errors that a client provokes for free. With a valid key they count against the key (auth/public-limits.ts). */
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
  refusal: "refused requests from your address",
  unpaid: "requests from your address without a payment",
  verification: "payments from your address",
  lookup: "new keys from your address",
  page: "requests from your address for pages",
  preflight: "OPTIONS requests from your address",
};

export function createAddressLimits({
  limiter,
  readAddress,
  rules,
  lookupQueue,
}: AddressLimitsOptions): AddressLimits {
  const toRequest = (kind: AddressKind, req: IncomingMessage): LimitRequest => {
    return { kind, subject: readAddress(req), rule: rules[kind] };
  };
  const toRefusal = (kind: AddressKind, decision: LimitDecision, target: HeaderTarget) => {
    if (decision.isAllowed) return undefined;
    setLimitHeaders(target, decision);
    return createRateLimitError(decision, KIND_TEXT[kind]);
  };
  return {
    addressOf: readAddress,
    async count(kind, req, res) {
      const refusal = toRefusal(kind, await limiter.take(toRequest(kind, req)), res);
      if (refusal !== undefined) throw refusal;
    },
    async countError(error, req, res) {
      if (!countsAgainstAddress(error)) return error;
      return toRefusal("refusal", await limiter.take(toRequest("refusal", req)), res) ?? error;
    },
    async admitLookup(req, target) {
      const decision = await limiter.take(toRequest("lookup", req));
      if (decision.isAllowed || (await lookupQueue.waitForTurn())) return;
      throw toRefusal("lookup", decision, target);
    },
  };
}
