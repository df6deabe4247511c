import { createHash } from "node:crypto";
import type { Client, RedisConnection } from "../../../services/shared/cache/redis-connection.ts";
import { createBatchingLimiter } from "./batching-limiter.ts";
import { BUCKET_SCRIPT, parseScriptResponse, scriptArguments } from "./bucket-script.ts";
import type { Limiter } from "./limiter.ts";
import type { LocalBuckets } from "./local-buckets.ts";
import type { BucketResponse } from "./shared-buckets.ts";

interface RedisLimiterOptions {
  readonly redis: Pick<RedisConnection, "run">;
  /** The last response of Redis for each bucket. Decisions continue from it while Redis is unreachable. */
  readonly buckets: LocalBuckets;
  /** Called after each batch with whether Redis decided it. */
  readonly onResult?: (isShared: boolean) => void;
  readonly prefix?: string;
}

const SCRIPT_SHA = createHash("sha1").update(BUCKET_SCRIPT).digest("hex");

/** Limits that all gateways share through buckets in Redis. */
export function createRedisLimiter(options: RedisLimiterOptions): Limiter {
  const { redis, buckets, onResult = () => {}, prefix = "chaintables:limit:" } = options;
  return createBatchingLimiter({
    buckets,
    shared: {
      async take(requests) {
        const keys = requests.map(({ kind, subject }) => `${prefix}${kind}:${subject}`);
        const args = requests.flatMap(({ rule, count, known }) => scriptArguments(rule, count, known));
        const responses = await redis.run<readonly BucketResponse[] | undefined>(undefined, async (client) =>
          parseScriptResponse(await runScript(client, keys, args), requests.length),
        );
        onResult(responses !== undefined);
        return responses;
      },
    },
  });
}

async function runScript(client: Client, keys: string[], args: string[]): Promise<unknown> {
  const call = { keys, arguments: args };
  try {
    return await client.evalSha(SCRIPT_SHA, call);
  } catch (error) {
    // A restarted Redis has no scripts.
    if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
    return client.eval(BUCKET_SCRIPT, call);
  }
}
