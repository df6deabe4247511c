import { ServiceError } from "../../services/shared/errors.ts";
import { getExchange, sendText } from "../../services/shared/http/exchange.ts";
import { type KeyAuthenticator, type KeyHolder, rejectSuspended } from "../auth/keys/key-authenticator.ts";
import type { AddressLimits } from "../auth/limits/address-limits.ts";
import { createRateLimitError, setLimitHeaders } from "../auth/limits/headers.ts";
import type { LimitDecision, Limiter } from "../auth/limits/limiter.ts";
import { createRule, type LimitRule } from "../auth/limits/rule.ts";
import { groupUsageByDay } from "../auth/usage/by-day.ts";
import type { UsageCounter } from "../auth/usage/usage-counter.ts";
import { DAY_MS, type UsageRow } from "../auth/usage/usage-record.ts";
import type { UsageStore } from "../auth/usage/usage-store.ts";
import type { Clock } from "../request/clock.ts";
import type { Page } from "../request/routes.ts";

export interface UsagePageDeps {
  readonly authenticateKey: KeyAuthenticator;
  readonly addressLimits: AddressLimits;
  readonly limiter: Limiter;
  readonly usage: UsageCounter;
  /** What all gateways have written. */
  readonly usageStore: () => Promise<Pick<UsageStore, "findByKey">>;
  readonly clock: Clock;
}

/** Days on the page, today being the last. */
export const USAGE_DAYS = 31;

/**
 * GET /usage: limits, usage and what remains today of the key in X-API-KEY. The request costs a request of the key's
 * rate, but none of its quota: who has used it up must be able to see so.
 */
export function createUsagePage(deps: UsagePageDeps): Page {
  const { authenticateKey, addressLimits, limiter, usage, usageStore, clock } = deps;
  const withoutQuota = new WeakMap<LimitRule, LimitRule>();

  const admit = async ({ subject, rule }: KeyHolder): Promise<LimitDecision | undefined> => {
    if (rule === undefined) return undefined;
    const rateOnly = withoutQuota.get(rule) ?? createRule({ ...rule, dailyQuota: null });
    withoutQuota.set(rule, rateOnly);
    const decision = await limiter.take({ kind: "key", subject, rule: rateOnly });
    if (!decision.isAllowed) return decision;
    return { ...(await limiter.peek({ kind: "key", subject, rule })), isAllowed: true };
  };

  const rowsOf = async (key: string, fromDay: number): Promise<UsageRow[]> => {
    try {
      const rows = usage.mergeCurrent(key, await (await usageStore()).findByKey(key, fromDay));
      return rows.filter((row) => row.day >= fromDay);
    } catch (cause) {
      throw new ServiceError("unavailable", "The usage of keys cannot be read at the moment.", {
        cause,
        retryAfterSeconds: 2,
      });
    }
  };

  return async (req, res) => {
    const sent = req.headers["x-api-key"];
    const holder = await authenticateKey(typeof sent === "string" ? sent : undefined, {
      beforeLookup: () => addressLimits.admitLookup(req, res),
    });
    getExchange(res).fields.key = holder.id;
    rejectSuspended(holder);
    const decision = await admit(holder);
    if (decision !== undefined) {
      setLimitHeaders(res, decision);
      if (!decision.isAllowed) throw createRateLimitError(decision, "requests with this key");
    }
    const today = Math.floor(clock.nowMs() / DAY_MS);
    const rows = await rowsOf(holder.id, today - USAGE_DAYS + 1);
    const text = JSON.stringify({
      key: describeHolder(holder),
      limits: describeLimits(holder.rule),
      remaining: decision === undefined ? null : describeRemaining(decision, clock.nowMs()),
      usage: groupUsageByDay(rows),
    });
    res.setHeader("Cache-Control", "no-store");
    sendText(res, { status: 200, type: "application/json", text });
  };
}

function describeHolder({ id, scopes, record }: KeyHolder) {
  const iso = (seconds: number | null | undefined) =>
    seconds === null || seconds === undefined ? null : new Date(seconds * 1000).toISOString();
  return {
    id,
    label: record?.label ?? null,
    owner: record?.owner ?? null,
    scopes,
    createdAt: iso(record?.createdAt),
    expiresAt: iso(record?.expiresAt),
    rotatedTo: record?.rotatedTo ?? null,
  };
}

function describeLimits(rule: LimitRule | undefined) {
  if (rule === undefined) return null;
  const { ratePerSecond, burst, dailyQuota } = rule;
  return { ratePerSecond, burst, dailyQuota };
}

function describeRemaining({ remaining }: LimitDecision, nowMs: number) {
  return {
    burst: remaining.burst,
    daily: remaining.daily,
    dayEndsAt: new Date(Math.round((nowMs + remaining.dayEndsInUs / 1000) / 1000) * 1000).toISOString(),
  };
}
