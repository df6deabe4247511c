import { createHash } from "node:crypto";
import type { Client, RedisConnection } from "../../services/shared/cache/redis-connection.ts";
import { BUCKET_SCRIPT, readScriptAnswer, type ScriptAnswer, scriptArguments } from "./bucket-script.ts";
import { type Ask, type Decision, type Limiter, toDecision } from "./limiter.ts";
import type { LocalBuckets } from "./local-buckets.ts";
import { createLocalLimiter } from "./local-limiter.ts";
import { COST, type LimitRule } from "./rule.ts";

export interface SharedLimiterOptions {
  readonly redis: Pick<RedisConnection, "ask">;
  /** What is known here: the last answer of Redis for each bucket, and where the next decision goes on without Redis. */
  readonly buckets: LocalBuckets;
  /** Told whether Redis made a decision, or was asked in vain. */
  readonly onAnswer?: (isShared: boolean) => void;
  readonly prefix?: string;
}

interface Waiter {
  readonly rule: LimitRule;
  readonly decide: (decision: Decision) => void;
}

/** Longest batch: a script that takes more is no slower, but what waits should not grow without bound in one answer. */
const MAX_BATCH = 10_000;
const SCRIPT_SHA = createHash("sha1").update(BUCKET_SCRIPT).digest("hex");

/**
 * Limits that all gateways share through Redis, exact to the request: every request that passes was taken from the
 * bucket in Redis before, and none was taken that did not ask. It is cheap all the same:
 * - one question a bucket is under way at a time, and asks for as many requests as came meanwhile: the busier a key,
 *   the fewer questions a request;
 * - a request that cannot pass by what Redis said last is refused without asking, since nothing but time empties a
 *   bucket. A flood costs Redis nothing.
 * While Redis is away, buckets go on here from what was known, each gateway for itself.
 */
export function createSharedLimiter(options: SharedLimiterOptions): Limiter {
  const { redis, buckets, onAnswer = () => {}, prefix = "chaintables:limit:" } = options;
  const local = createLocalLimiter(buckets);
  /** Who waits for the next question about a bucket, while one is under way. */
  const lines = new Map<string, Waiter[]>();

  const question = async (ask: Ask, want: number): Promise<ScriptAnswer | undefined> => {
    const { kind, subject, rule } = ask;
    const sent = buckets.moment();
    const known = buckets.tryTake({ kind, subject, rule, want: 0 }, sent).bucket;
    const key = `${prefix}${kind}:${subject}`;
    const answer = await redis.ask<ScriptAnswer | undefined>(undefined, async (client) =>
      readScriptAnswer(await run(client, key, scriptArguments(rule, want, known))),
    );
    onAnswer(answer !== undefined);
    // As of when it was asked, which is before Redis decided: what is known here is never more than the truth.
    if (answer !== undefined) buckets.follow(ask, answer.bucket, sent);
    return answer;
  };

  /** Asks for everybody in the line who asks under the first one's rule, until nobody waits. */
  const serve = async (ask: Ask, name: string, line: Waiter[]): Promise<void> => {
    for (let first = line[0]; first !== undefined; first = line[0]) {
      const { rule } = first;
      const other = line.findIndex((waiter) => waiter.rule !== rule);
      const batch = line.splice(0, Math.min(MAX_BATCH, other === -1 ? line.length : other));
      const answer = await question({ ...ask, rule }, batch.length);
      for (const [place, waiter] of batch.entries())
        waiter.decide(answer ? decisionAt(place, answer, rule) : local.take({ ...ask, rule }));
    }
    lines.delete(name);
  };

  return {
    take(ask) {
      const moment = buckets.moment();
      const { kind, subject, rule } = ask;
      const { granted, bucket } = buckets.tryTake({ kind, subject, rule, want: 1 }, moment);
      if (granted === 0) return toDecision(false, { bucket, rule, wallUs: moment.wallUs });
      return new Promise((decide) => {
        const name = `${ask.kind}:${ask.subject}`;
        const line = lines.get(name);
        if (line !== undefined) {
          line.push({ rule: ask.rule, decide });
          return;
        }
        const started = [{ rule: ask.rule, decide }];
        lines.set(name, started);
        void serve(ask, name, started);
      });
    },
    async peek(ask) {
      const answer = await question(ask, 0);
      if (answer === undefined) return local.peek(ask);
      const { bucket } = answer;
      const none = toDecision(false, { bucket, rule: ask.rule, wallUs: bucket.atUs });
      return none.waitUs > 0 ? none : { ...none, isAllowed: true };
    },
    peekHere: local.peek,
    learn: local.learn,
  };
}

/** What the request at this place of a batch is told: as if the batch had come one after the other. */
function decisionAt(place: number, { granted, bucket }: ScriptAnswer, rule: LimitRule): Decision {
  const after = Math.max(0, granted - 1 - place);
  const { level, used } = bucket;
  const then = {
    ...bucket,
    level: level - after * COST,
    used: rule.dailyQuota === null ? used : used - after,
  };
  return toDecision(place < granted, { bucket: then, rule, wallUs: bucket.atUs });
}

async function run(client: Client, key: string, args: string[]): Promise<unknown> {
  const call = { keys: [key], arguments: args };
  try {
    return await client.evalSha(SCRIPT_SHA, call);
  } catch (error) {
    // A Redis that was started anew has forgotten its scripts.
    if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
    return client.eval(BUCKET_SCRIPT, call);
  }
}
