import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import type { KeyHolder } from "./keys/key-authenticator.ts";
import { createRateLimitError, type HeaderTarget, setLimitHeaders } from "./limits/headers.ts";
import type { LimitDecision, Limiter } from "./limits/limiter.ts";
import type { UsageCounter } from "./usage/usage-counter.ts";

/** What limits need of a request. */
export interface Admission {
  readonly endpoint: Endpoint;
  /** Takes the RateLimit headers; absent where they are set on `res`. */
  readonly headers?: HeaderTarget | undefined;
  readonly res: HeaderTarget;
}

/** Lets a holder's request pass or throws `rate_limited`; counts either as usage. */
export type AdmitKey = (holder: KeyHolder, admission: Admission) => void | Promise<void>;

interface KeyLimitsOptions {
  readonly limiter: Limiter;
  readonly usage: Pick<UsageCounter, "count">;
}

/** Counts each request, from the cache or a service, against its holder's limits and sets the RateLimit headers. */
export function createKeyLimits({ limiter, usage }: KeyLimitsOptions): AdmitKey {
  const countUsage = ({ id, subject }: KeyHolder, { endpoint }: Admission, isPassed: boolean): void =>
    usage.count({ key: id, subject, endpoint: endpoint.path, isPassed });

  const apply = (decision: LimitDecision, holder: KeyHolder, context: Admission): void => {
    countUsage(holder, context, decision.isAllowed);
    setLimitHeaders(context.headers ?? context.res, decision);
    if (!decision.isAllowed) throw createRateLimitError(decision, "requests with this key");
  };

  return (holder, context) => {
    const { subject, rule } = holder;
    if (rule === undefined) return countUsage(holder, context, true);
    const decision = limiter.take({ kind: "key", subject, rule });
    if (!(decision instanceof Promise)) return apply(decision, holder, context);
    return decision.then((resolved) => apply(resolved, holder, context));
  };
}
