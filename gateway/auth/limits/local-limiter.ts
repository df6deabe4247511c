import type { Clock } from "../../request/clock.ts";
import { type LimitDecision, type Limiter, type LimitRequest, toDecision } from "./limiter.ts";
import { asking, LocalBuckets } from "./local-buckets.ts";

/** A limiter that makes every decision in this process, synchronously. */
export interface LocalLimiter extends Limiter {
  take(request: LimitRequest): LimitDecision;
  peek(request: LimitRequest): LimitDecision;
}

/** Limits of this process alone: without Redis, and while Redis is unreachable. */
export function createLocalLimiter(buckets: LocalBuckets): LocalLimiter {
  return {
    take(request) {
      const clocks = buckets.readClocks();
      const { bucket, granted } = buckets.take(asking(request, 1), clocks);
      return toDecision(granted === 1, { bucket, rule: request.rule, wallUs: clocks.wallUs });
    },
    peek(request) {
      const clocks = buckets.readClocks();
      const { granted } = buckets.tryTake(asking(request, 1), clocks);
      const { bucket } = buckets.tryTake(asking(request, 0), clocks);
      return toDecision(granted === 1, { bucket, rule: request.rule, wallUs: clocks.wallUs });
    },
    raiseUsage: (usage) => buckets.raiseUsage(usage),
  };
}

export function createMemoryLimiter(clock: Clock): LocalLimiter {
  return createLocalLimiter(new LocalBuckets(clock));
}
