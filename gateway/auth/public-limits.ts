import type { Request, Response } from "express";
import { getExchange } from "../../services/shared/http/exchange.ts";
import type { KeyAuthenticator, KeyHolder } from "./keys/key-authenticator.ts";
import { SuspendedKeyError } from "./keys/key-authenticator.ts";
import { type AddressKind, type AddressLimits, countsAgainstAddress } from "./limits/address-limits.ts";
import { createRateLimitError, setLimitHeaders } from "./limits/headers.ts";
import type { Limiter } from "./limits/limiter.ts";

/**
 * Counts what is answered without asking for a key: refusals, pages, OPTIONS. Who shows a valid key all the same answers
 * for it with that key, and never for others behind the same address.
 */
export interface PublicLimits {
  /** Counts one answer before it is given. Throws `rate_limited`, its headers set. */
  count(kind: AddressKind, req: Request, res: Response): Promise<void>;
  /** What to answer in place of an error that came before a key was looked at: itself, or `rate_limited`. */
  countError(error: unknown, req: Request, res: Response): Promise<unknown>;
}

export interface PublicLimitsOptions {
  readonly authenticateKey: KeyAuthenticator;
  readonly limiter: Pick<Limiter, "take">;
  readonly addressLimits: AddressLimits;
}

/** For headers of a look-up that the client does not hear of. */
const DISCARD_HEADERS = { setHeader: () => {} };

export function createPublicLimits({
  authenticateKey,
  limiter,
  addressLimits,
}: PublicLimitsOptions): PublicLimits {
  /** Undefined where no key was shown, or one that is not valid, or that cannot be looked up at the moment. */
  const holderOf = async (req: Request, res: Response): Promise<KeyHolder | undefined> => {
    const sent = req.headers["x-api-key"];
    if (typeof sent !== "string") return undefined;
    const beforeLookup = () => addressLimits.admitLookup(req, DISCARD_HEADERS);
    const holder =
      authenticateKey.cached(sent) ?? (await authenticateKey(sent, { beforeLookup }).catch(() => undefined));
    if (holder === undefined || holder.isSuspended) return undefined;
    getExchange(res).fields.key = holder.id;
    return holder;
  };

  /** The refusal where the key's limits are used up. */
  const takeFrom = async ({ subject, rule }: KeyHolder, res: Response): Promise<unknown> => {
    res.removeHeader("RateLimit");
    res.removeHeader("RateLimit-Policy");
    if (rule === undefined) return undefined;
    const decision = await limiter.take({ kind: "key", subject, rule });
    setLimitHeaders(res, decision);
    return decision.isAllowed ? undefined : createRateLimitError(decision, "requests with this key");
  };

  return {
    async count(kind, req, res) {
      try {
        await addressLimits.count(kind, req, res);
      } catch (error) {
        const holder = await holderOf(req, res);
        const refusal = holder === undefined ? error : await takeFrom(holder, res);
        if (refusal !== undefined) throw refusal;
      }
    },
    async countError(error, req, res) {
      if (!countsAgainstAddress(error)) return error;
      // The key has been looked at, and is none.
      const isNobodys = error.code === "unauthorized" || error instanceof SuspendedKeyError;
      const holder = isNobodys ? undefined : await holderOf(req, res);
      if (holder === undefined) return addressLimits.countError(error, req, res);
      return (await takeFrom(holder, res)) ?? error;
    },
  };
}
