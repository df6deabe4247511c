import { limitFailureReports } from "../../../services/shared/cache/failure-reports.ts";
import { openRedisConnection } from "../../../services/shared/cache/redis-connection.ts";
import type { Log } from "../../../services/shared/logging/log.ts";
import type { Metrics } from "../../../services/shared/metrics/metrics.ts";
import type { Clock } from "../../request/clock.ts";
import { createBatchingLimiter } from "./batching-limiter.ts";
import type { Limiter } from "./limiter.ts";
import { LocalBuckets } from "./local-buckets.ts";
import { createLocalLimiter } from "./local-limiter.ts";
import { measureDecisions, watchSharing } from "./observe.ts";
import { createRedisLimiter } from "./redis-limiter.ts";
import type { SharedBuckets } from "./shared-buckets.ts";

interface OpenLimiterOptions {
  readonly redisUrl: string | undefined;
  /** The buckets shared with other workers, used without Redis; undefined = this process decides alone. */
  readonly sharedBuckets?: SharedBuckets | undefined;
  /** How long a command and the first connection may take; undefined = 250 ms and 1 s. */
  readonly redisTimeoutMs?: number | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface OpenedLimiter {
  readonly limiter: Limiter;
  close(): void;
}

/** Without a wait for the connection, the first requests would be decided by this gateway alone. */
const FIRST_CONNECTION_MS = 1_000;

/** Opens the gateway's limiter: shared through Redis, else among workers, else local to this process. Never fails. */
export async function openLimiter(options: OpenLimiterOptions): Promise<OpenedLimiter> {
  const { redisUrl, sharedBuckets, redisTimeoutMs, clock, log, metrics } = options;
  const buckets = new LocalBuckets(clock);
  if (redisUrl === undefined) {
    const limiter = sharedBuckets
      ? createBatchingLimiter({ shared: sharedBuckets, buckets })
      : createLocalLimiter(buckets);
    return { limiter: measureDecisions(limiter, metrics), close: () => {} };
  }
  const redis = await openRedisConnection({
    url: redisUrl,
    ...(redisTimeoutMs === undefined ? {} : { commandTimeoutMs: redisTimeoutMs }),
    onFailure: limitFailureReports(({ failures, error }) =>
      log.debug({ failures, err: error }, "Redis did not answer the limiter"),
    ),
  });
  await redis.waitUntilReady(redisTimeoutMs ?? FIRST_CONNECTION_MS);
  const limiter = createRedisLimiter({ redis, buckets, onResult: watchSharing({ log, metrics }) });
  return { limiter: measureDecisions(limiter, metrics), close: () => redis.close() };
}
