import type { Request, Response } from "express";
import { getExchange } from "../../../services/shared/http/exchange.ts";
import { type AddressKind, type AddressLimits, isFree } from "../limits/address-limits.ts";
import { limitedError, setLimitHeaders } from "../limits/headers.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { KeyCheck, KeyHolder } from "./key-check.ts";
import { SuspendedKey } from "./key-check.ts";

/**
 * Counts what is answered without asking for a key: refusals, pages, OPTIONS. Who shows a valid key all the same answers
 * for it with that key, and never for others behind the same address.
 */
export interface OpenDoors {
  /** Counts one answer before it is given. Throws `rate_limited`, its headers set. */
  charge(kind: AddressKind, req: Request, res: Response): Promise<void>;
  /** What to answer in place of an error that came before a key was looked at: itself, or `rate_limited`. */
  judge(error: unknown, req: Request, res: Response): Promise<unknown>;
}

export interface OpenDoorsOptions {
  readonly checkKey: KeyCheck;
  readonly limiter: Pick<Limiter, "take">;
  readonly addressLimits: AddressLimits;
}

/** For headers of a look-up that the client does not hear of. */
const NOWHERE = { setHeader: () => {} };

export function createOpenDoors({ checkKey, limiter, addressLimits }: OpenDoorsOptions): OpenDoors {
  /** Undefined where no key was shown, or one that is not valid, or that cannot be looked up at the moment. */
  const holderOf = async (req: Request, res: Response): Promise<KeyHolder | undefined> => {
    const sent = req.headers["x-api-key"];
    if (typeof sent !== "string") return undefined;
    const beforeLookup = () => addressLimits.admitLookup(req, NOWHERE);
    const holder = checkKey.now(sent) ?? (await checkKey(sent, { beforeLookup }).catch(() => undefined));
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
    return decision.isAllowed ? undefined : limitedError(decision, "requests with this key");
  };

  return {
    async charge(kind, req, res) {
      try {
        await addressLimits.charge(kind, req, res);
      } catch (error) {
        const holder = await holderOf(req, res);
        const refusal = holder === undefined ? error : await takeFrom(holder, res);
        if (refusal !== undefined) throw refusal;
      }
    },
    async judge(error, req, res) {
      if (!isFree(error)) return error;
      // The key has been looked at, and is none.
      const isNobodys = error.code === "unauthorized" || error instanceof SuspendedKey;
      const holder = isNobodys ? undefined : await holderOf(req, res);
      if (holder === undefined) return addressLimits.judge(error, req, res);
      return (await takeFrom(holder, res)) ?? error;
    },
  };
}
