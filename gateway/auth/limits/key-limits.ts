import type { RequestContext } from "../../request/context.ts";
import type { KeyHolder } from "../keys/key-check.ts";
import type { UsageCounter } from "../usage/usage-counter.ts";
import { limitedError, setLimitHeaders } from "./headers.ts";
import type { Decision, Limiter } from "./limiter.ts";

/** Lets a holder's request pass or throws `rate_limited`; either is counted as usage. */
export type AdmitKey = (holder: KeyHolder, passage: RequestContext) => void | Promise<void>;

export interface KeyLimitsOptions {
  readonly limiter: Limiter;
  readonly usage: Pick<UsageCounter, "count">;
}

/** Takes each request from its holder's limits and says in headers what is left. */
export function createKeyLimits({ limiter, usage }: KeyLimitsOptions): AdmitKey {
  const note = ({ id, subject }: KeyHolder, { endpoint }: RequestContext, isPassed: boolean): void =>
    usage.count({ key: id, subject, endpoint: endpoint.path, isPassed });

  const judge = (decision: Decision, holder: KeyHolder, passage: RequestContext): void => {
    note(holder, passage, decision.isAllowed);
    setLimitHeaders(passage.headers ?? passage.res, decision);
    if (!decision.isAllowed) throw limitedError(decision, "requests with this key");
  };

  return (holder, passage) => {
    const { subject, rule } = holder;
    if (rule === undefined) return note(holder, passage, true);
    const decision = limiter.take({ kind: "key", subject, rule });
    if (!(decision instanceof Promise)) return judge(decision, holder, passage);
    return decision.then((late) => judge(late, holder, passage));
  };
}
