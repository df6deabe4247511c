import type { Bucket } from "./bucket.ts";
import { type LimitDecision, type Limiter, type LimitRequest, toDecision } from "./limiter.ts";
import { asking, type LocalBuckets, type TakeRequest } from "./local-buckets.ts";
import { createLocalLimiter, type LocalLimiter } from "./local-limiter.ts";
import { COST, type LimitRule } from "./rule.ts";
import type { BucketResponse, SharedBuckets } from "./shared-buckets.ts";

interface BatchingLimiterOptions {
  readonly shared: SharedBuckets;
  /** The last response for each bucket. Decisions continue from it while the shared buckets are unreachable. */
  readonly buckets: LocalBuckets;
}

interface PendingRequest {
  readonly request: LimitRequest;
  readonly resolve: (decision: LimitDecision) => void;
}

/** Pending requests for one bucket under one rule, in order of arrival. */
interface BucketGroup {
  readonly request: LimitRequest;
  readonly pending: PendingRequest[];
}

/** Redis does nothing else while its script runs: some milliseconds at most. */
const MAX_BATCH = 1_000;

/**
 * Limits that several processes share, exact to the request: every request that passes was taken from the one bucket
 * first, and nothing is taken ahead. Two rules keep that cheap:
 * - one batch is in flight at a time and carries every request that arrived meanwhile, so the busier the gateway, the
 *   fewer round trips per request (limiter.bench.ts);
 * - a request that cannot pass by the last response is refused at once, because only time empties a bucket. A flood
 *   costs the shared buckets nothing.
 * While the shared buckets are unreachable, each process continues alone from what it knows.
 */
export function createBatchingLimiter({ shared, buckets }: BatchingLimiterOptions): Limiter {
  const local = createLocalLimiter(buckets);
  let queue: PendingRequest[] = [];
  let isDraining = false;

  const takeShared = async (
    requests: readonly TakeRequest[],
  ): Promise<readonly BucketResponse[] | undefined> => {
    const sentAt = buckets.readClocks();
    const responses = await shared.take(
      requests.map((request) => {
        const { kind, subject, rule, count } = request;
        return { kind, subject, rule, count, known: buckets.tryTake(asking(request, 0), sentAt).bucket };
      }),
    );
    // Dated when the request was sent, before the decision: the local copy never holds more than the shared bucket.
    for (const [index, { bucket }] of (responses ?? []).entries())
      buckets.adopt(requests[index] as TakeRequest, bucket, sentAt);
    return responses;
  };

  const drainQueue = async (): Promise<void> => {
    isDraining = true;
    try {
      while (queue.length > 0) {
        const groups = groupByBucket(queue.slice(0, MAX_BATCH));
        queue = queue.slice(MAX_BATCH);
        const responses = await takeShared(
          groups.map(({ request, pending }) => asking(request, pending.length)),
        );
        for (const [index, group] of groups.entries()) resolveGroup(group, responses?.[index], local);
      }
    } finally {
      isDraining = false;
    }
  };

  return {
    take(request) {
      const clocks = buckets.readClocks();
      const { granted, bucket } = buckets.tryTake(asking(request, 1), clocks);
      if (granted === 0) return toDecision(false, { bucket, rule: request.rule, wallUs: clocks.wallUs });
      return new Promise((resolve) => {
        queue.push({ request, resolve });
        if (!isDraining) void drainQueue();
      });
    },
    async peek(request) {
      const responses = await takeShared([asking(request, 0)]);
      const bucket = responses?.[0]?.bucket;
      if (bucket === undefined) return local.peek(request);
      const state = toDecision(false, { bucket, rule: request.rule, wallUs: bucket.atUs });
      return state.waitUs > 0 ? state : { ...state, isAllowed: true };
    },
    raiseUsage(usage) {
      local.raiseUsage(usage);
      shared.raiseUsage?.(usage);
    },
  };
}

function groupByBucket(pending: readonly PendingRequest[]): BucketGroup[] {
  const groups: BucketGroup[] = [];
  const lastGroups = new Map<string, BucketGroup>();
  for (const each of pending) {
    const { request } = each;
    const name = `${request.kind}:${request.subject}`;
    const last = lastGroups.get(name);
    if (last?.request.rule === request.rule) {
      last.pending.push(each);
      continue;
    }
    const group = { request, pending: [each] };
    lastGroups.set(name, group);
    groups.push(group);
  }
  return groups;
}

function resolveGroup(
  { request, pending }: BucketGroup,
  response: BucketResponse | undefined,
  local: LocalLimiter,
): void {
  for (const [position, { resolve }] of pending.entries())
    resolve(response ? decideAt(position, response, request.rule) : local.take(request));
}

/** The decision for the request at this position of its group, as if the requests had come one after the other. */
function decideAt(position: number, { granted, bucket }: BucketResponse, rule: LimitRule): LimitDecision {
  const grantedLater = Math.max(0, granted - 1 - position);
  const { level, used } = bucket;
  const bucketThen: Bucket = {
    ...bucket,
    level: level - grantedLater * COST,
    used: rule.dailyQuota === null ? used : used - grantedLater,
  };
  return toDecision(position < granted, { bucket: bucketThen, rule, wallUs: bucket.atUs });
}
