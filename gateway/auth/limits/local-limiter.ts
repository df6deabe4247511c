import type { Clock } from "../../request/clock.ts";
import { type LimitDecision, type Limiter, type LimitRequest, toDecision } from "./limiter.ts";
import { LocalBuckets } from "./local-buckets.ts";

/** A limiter whose decisions are all made here. */
export interface LocalLimiter extends Limiter {
  take(ask: LimitRequest): LimitDecision;
  peek(ask: LimitRequest): LimitDecision;
}

/** Limits of this process alone: without Redis, and while Redis is away. */
export function createLocalLimiter(buckets: LocalBuckets): LocalLimiter {
  const peek = (ask: LimitRequest): LimitDecision => {
    const moment = buckets.readClocks();
    const { kind, subject, rule } = ask;
    const { granted } = buckets.tryTake({ kind, subject, rule, want: 1 }, moment);
    const { bucket } = buckets.tryTake({ kind, subject, rule, want: 0 }, moment);
    return toDecision(granted === 1, { bucket, rule, wallUs: moment.wallUs });
  };
  return {
    take({ kind, subject, rule }) {
      const moment = buckets.readClocks();
      const { bucket, granted } = buckets.take({ kind, subject, rule, want: 1 }, moment);
      return toDecision(granted === 1, { bucket, rule, wallUs: moment.wallUs });
    },
    peek,
    raiseUsage: (of) => buckets.raiseUsage(of),
  };
}

export function createMemoryLimiter(clock: Clock): LocalLimiter {
  return createLocalLimiter(new LocalBuckets(clock));
}
