import type { KeyHolder } from "../access/key-check.ts";
import type { Passage } from "../passage.ts";
import { limitedError, setLimitHeaders } from "./headers.ts";
import type { Decision, Limiter } from "./limiter.ts";

/** Counts requests of holders: what is let pass and what is refused. */
export type AdmitKey = (holder: KeyHolder, passage: Passage) => void | Promise<void>;

/** Takes each request from its holder's limits and says in headers what is left; throws `rate_limited`. */
export function createKeyLimits(limiter: Limiter): AdmitKey {
  const judge = (decision: Decision, { res, headers }: Passage): void => {
    setLimitHeaders(headers ?? res, decision);
    if (!decision.isAllowed) throw limitedError(decision, "requests with this key");
  };
  return ({ subject, rule }, passage) => {
    if (rule === undefined) return undefined;
    const decision = limiter.take({ kind: "key", subject, rule });
    if (!(decision instanceof Promise)) return judge(decision, passage);
    return decision.then((late) => judge(late, passage));
  };
}
