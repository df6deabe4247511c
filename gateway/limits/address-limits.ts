import type { IncomingMessage, ServerResponse } from "node:http";
import { ServiceError } from "../../services/shared/errors.ts";
import type { AddressOf } from "./client-address.ts";
import { limitedError, setLimitHeaders } from "./headers.ts";
import type { Ask, Decision, Limiter, LimitKind } from "./limiter.ts";
import type { LimitRule } from "./rule.ts";

export type AddressKind = Exclude<LimitKind, "key">;

/** Limits of who has shown no key, by address. */
export interface AddressLimits {
  /**
   * Counts one answer of a kind (or, of verifications, one piece of work) for the address of a request, before it is
   * given (done). Throws `rate_limited`, its headers set, where the address has had too many.
   * For pay per request: `charge("unpaid", …)` before a 402, `charge("verification", …)` before a payment is verified.
   */
  charge(kind: AddressKind, req: IncomingMessage, res: ServerResponse): Promise<void>;
  /** What to answer in place of an error: itself, or `rate_limited` where the address has been refused too often. */
  judge(error: unknown, req: IncomingMessage, res: ServerResponse): Promise<unknown>;
  /** Throws `rate_limited` where the address has been refused too often already; counts nothing and asks nobody. */
  refuseFlood(req: IncomingMessage, res: ServerResponse): void;
}

export interface AddressLimitsOptions {
  readonly limiter: Limiter;
  readonly addressOf: AddressOf;
  readonly rules: Readonly<Record<AddressKind, LimitRule>>;
}

/** Errors that cost a client nothing to bring about. Those of a service come after the key and never pass here. */
const FREE_ERRORS: ReadonlySet<string> = new Set(["bad_request", "unauthorized", "forbidden", "not_found"]);

const WHAT: Readonly<Record<AddressKind, string>> = {
  refusal: "requests from your address that had to be refused",
  unpaid: "requests from your address without a payment",
  verification: "payments from your address to verify",
};

export function createAddressLimits({ limiter, addressOf, rules }: AddressLimitsOptions): AddressLimits {
  const askOf = (kind: AddressKind, req: IncomingMessage): Ask => {
    return { kind, subject: addressOf(req), rule: rules[kind] };
  };
  const refusalOf = (kind: AddressKind, decision: Decision, res: ServerResponse) => {
    if (decision.isAllowed) return undefined;
    setLimitHeaders(res, decision);
    return limitedError(decision, WHAT[kind]);
  };
  return {
    async charge(kind, req, res) {
      const refusal = refusalOf(kind, await limiter.take(askOf(kind, req)), res);
      if (refusal !== undefined) throw refusal;
    },
    async judge(error, req, res) {
      if (!(error instanceof ServiceError) || !FREE_ERRORS.has(error.code)) return error;
      return refusalOf("refusal", await limiter.take(askOf("refusal", req)), res) ?? error;
    },
    refuseFlood(req, res) {
      const refusal = refusalOf("refusal", limiter.peekHere(askOf("refusal", req)), res);
      if (refusal !== undefined) throw refusal;
    },
  };
}
