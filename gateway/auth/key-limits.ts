import type { RequestContext } from "../request/context.ts";
import type { KeyHolder } from "./keys/key-authenticator.ts";
import { createRateLimitError, setLimitHeaders } from "./limits/headers.ts";
import type { LimitDecision, Limiter } from "./limits/limiter.ts";
import type { UsageCounter } from "./usage/usage-counter.ts";

/** Lets a holder's request pass or throws `rate_limited`; either is counted as usage. */
export type AdmitKey = (holder: KeyHolder, context: RequestContext) => void | Promise<void>;

export interface KeyLimitsOptions {
  readonly limiter: Limiter;
  readonly usage: Pick<UsageCounter, "count">;
}

/** Takes each request from its holder's limits and says in headers what is left. */
export function createKeyLimits({ limiter, usage }: KeyLimitsOptions): AdmitKey {
  const note = ({ id, subject }: KeyHolder, { endpoint }: RequestContext, isPassed: boolean): void =>
    usage.count({ key: id, subject, endpoint: endpoint.path, isPassed });

  const judge = (decision: LimitDecision, holder: KeyHolder, context: RequestContext): void => {
    note(holder, context, decision.isAllowed);
    setLimitHeaders(context.headers ?? context.res, decision);
    if (!decision.isAllowed) throw createRateLimitError(decision, "requests with this key");
  };

  return (holder, context) => {
    const { subject, rule } = holder;
    if (rule === undefined) return note(holder, context, true);
    const decision = limiter.take({ kind: "key", subject, rule });
    if (!(decision instanceof Promise)) return judge(decision, holder, context);
    return decision.then((late) => judge(late, holder, context));
  };
}
