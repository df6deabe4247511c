import type { Request, Response } from "express";
import { getExchange } from "../../services/shared/http/exchange.ts";
import type { KeyAuthenticator, KeyHolder } from "./keys/key-authenticator.ts";
import { SuspendedKeyError } from "./keys/key-authenticator.ts";
import { type AddressKind, type AddressLimits, countsAgainstAddress } from "./limits/address-limits.ts";
import { createRateLimitError, setLimitHeaders } from "./limits/headers.ts";
import type { Limiter } from "./limits/limiter.ts";

/**
 * Limits of requests that need no key: refusals, pages, OPTIONS. They count against the address; a valid key that is sent
 * along pays instead once the address is used up, so it never pays for others behind the same address.
 * Valid keys pass during a flood, because many clients may share an address: their errors (400, 403 for a scope, 404) count
 * against the key. A suspended key is not valid: its 403 counts against the address.
 */
export interface PublicLimits {
  /** Counts one response before it is sent. Throws `rate_limited`, with its headers set. */
  count(kind: AddressKind, req: Request, res: Response): Promise<void>;
  /** Returns the error to send for one that came before the key was checked: the given one, or `rate_limited`. */
  countError(error: unknown, req: Request, res: Response): Promise<unknown>;
}

interface PublicLimitsOptions {
  readonly authenticateKey: KeyAuthenticator;
  readonly limiter: Pick<Limiter, "take">;
  readonly addressLimits: AddressLimits;
}

/** Takes the headers of a look-up's limit, which the client does not see. */
const DISCARD_HEADERS = { setHeader: () => {} };

export function createPublicLimits({
  authenticateKey,
  limiter,
  addressLimits,
}: PublicLimitsOptions): PublicLimits {
  /** Undefined if no key was sent, or it is not valid, or cannot be looked up now. */
  const findHolder = async (req: Request, res: Response): Promise<KeyHolder | undefined> => {
    const sent = req.headers["x-api-key"];
    if (typeof sent !== "string") return undefined;
    const beforeLookup = () => addressLimits.admitLookup(req, DISCARD_HEADERS);
    const holder =
      authenticateKey.cached(sent) ?? (await authenticateKey(sent, { beforeLookup }).catch(() => undefined));
    if (holder === undefined || holder.isSuspended) return undefined;
    getExchange(res).fields.key = holder.id;
    return holder;
  };

  /** Returns the refusal if the key's limits are used up. */
  const takeFromKey = async ({ subject, rule }: KeyHolder, res: Response): Promise<unknown> => {
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
        const holder = await findHolder(req, res);
        const refusal = holder === undefined ? error : await takeFromKey(holder, res);
        if (refusal !== undefined) throw refusal;
      }
    },
    async countError(error, req, res) {
      if (!countsAgainstAddress(error)) return error;
      // The key was checked and is not valid.
      const isInvalidKey = error.code === "unauthorized" || error instanceof SuspendedKeyError;
      const holder = isInvalidKey ? undefined : await findHolder(req, res);
      if (holder === undefined) return addressLimits.countError(error, req, res);
      return (await takeFromKey(holder, res)) ?? error;
    },
  };
}
