import { createHash } from "node:crypto";
import type { Client, RedisConnection } from "../../../services/shared/cache/redis-connection.ts";
import { createBatchingLimiter } from "./batching-limiter.ts";
import { BUCKET_SCRIPT, parseScriptResponse, scriptArguments } from "./bucket-script.ts";
import type { Limiter } from "./limiter.ts";
import type { LocalBuckets } from "./local-buckets.ts";
import type { BucketResponse } from "./shared-buckets.ts";

export interface RedisLimiterOptions {
  readonly redis: Pick<RedisConnection, "run">;
  /** What is known here: the last answer of Redis for each bucket, and where the next decision goes on without Redis. */
  readonly buckets: LocalBuckets;
  /** Told whether Redis made decisions, or was asked in vain. */
  readonly onResult?: (isShared: boolean) => void;
  readonly prefix?: string;
}

const SCRIPT_SHA = createHash("sha1").update(BUCKET_SCRIPT).digest("hex");

/** Limits that all gateways share, whose buckets stand in Redis. */
export function createRedisLimiter(options: RedisLimiterOptions): Limiter {
  const { redis, buckets, onResult = () => {}, prefix = "chaintables:limit:" } = options;
  return createBatchingLimiter({
    buckets,
    keeper: {
      async take(questions) {
        const keys = questions.map(({ kind, subject }) => `${prefix}${kind}:${subject}`);
        const args = questions.flatMap(({ rule, want, known }) => scriptArguments(rule, want, known));
        const answers = await redis.run<readonly BucketResponse[] | undefined>(undefined, async (client) =>
          parseScriptResponse(await run(client, keys, args), questions.length),
        );
        onResult(answers !== undefined);
        return answers;
      },
    },
  });
}

async function run(client: Client, keys: string[], args: string[]): Promise<unknown> {
  const call = { keys, arguments: args };
  try {
    return await client.evalSha(SCRIPT_SHA, call);
  } catch (error) {
    // A Redis that was started anew has forgotten its scripts.
    if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
    return client.eval(BUCKET_SCRIPT, call);
  }
}
