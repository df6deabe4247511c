import { createHash } from "node:crypto";
import type { Client, RedisConnection } from "../../services/shared/cache/redis-connection.ts";
import { BUCKET_SCRIPT, readScriptAnswers, type ScriptAnswer, scriptArguments } from "./bucket-script.ts";
import { type Ask, type Decision, type Limiter, toDecision } from "./limiter.ts";
import type { LocalBuckets, Wanted } from "./local-buckets.ts";
import { createLocalLimiter, type LocalLimiter } from "./local-limiter.ts";
import { COST, type LimitRule } from "./rule.ts";

export interface SharedLimiterOptions {
  readonly redis: Pick<RedisConnection, "ask">;
  /** What is known here: the last answer of Redis for each bucket, and where the next decision goes on without Redis. */
  readonly buckets: LocalBuckets;
  /** Told whether Redis made decisions, or was asked in vain. */
  readonly onAnswer?: (isShared: boolean) => void;
  readonly prefix?: string;
}

interface Waiter {
  readonly ask: Ask;
  readonly decide: (decision: Decision) => void;
}

/** Who asks for one bucket under one rule, in the order of coming. */
interface Line {
  readonly ask: Ask;
  readonly waiters: Waiter[];
}

/** Redis does nothing else meanwhile: some milliseconds at most. */
const MAX_BATCH = 1_000;
const SCRIPT_SHA = createHash("sha1").update(BUCKET_SCRIPT).digest("hex");

/**
 * Limits that all gateways share through Redis, exact to the request: every request that passes was taken from the
 * bucket in Redis before, and none was taken that did not ask. It is cheap all the same:
 * - one question is under way at a time, and asks for everybody who came meanwhile: the busier the gateway, the fewer
 *   questions a request (limiter.bench.ts);
 * - a request that cannot pass by what Redis said last is refused without asking, since nothing but time empties a
 *   bucket. A flood costs Redis nothing.
 * While Redis is away, buckets go on here from what was known, each gateway for itself.
 */
export function createSharedLimiter(options: SharedLimiterOptions): Limiter {
  const { redis, buckets, onAnswer = () => {}, prefix = "chaintables:limit:" } = options;
  const local = createLocalLimiter(buckets);
  let waiting: Waiter[] = [];
  let isAsking = false;

  const question = async (wanted: readonly Wanted[]): Promise<readonly ScriptAnswer[] | undefined> => {
    const sent = buckets.moment();
    const keys = wanted.map(({ kind, subject }) => `${prefix}${kind}:${subject}`);
    const args = wanted.flatMap((each) =>
      scriptArguments(each.rule, each.want, buckets.tryTake({ ...each, want: 0 }, sent).bucket),
    );
    const answers = await redis.ask<readonly ScriptAnswer[] | undefined>(undefined, async (client) =>
      readScriptAnswers(await run(client, keys, args), wanted.length),
    );
    onAnswer(answers !== undefined);
    // As of when it was asked, which is before Redis decided: what is known here is never more than the truth.
    for (const [place, answer] of (answers ?? []).entries())
      buckets.follow(wanted[place] as Wanted, answer.bucket, sent);
    return answers;
  };

  const serve = async (): Promise<void> => {
    isAsking = true;
    try {
      while (waiting.length > 0) {
        const lines = linesOf(waiting.slice(0, MAX_BATCH));
        waiting = waiting.slice(MAX_BATCH);
        const answers = await question(lines.map(({ ask, waiters }) => ({ ...ask, want: waiters.length })));
        for (const [place, line] of lines.entries()) decideAll(line, answers?.[place], local);
      }
    } finally {
      isAsking = false;
    }
  };

  return {
    take(ask) {
      const moment = buckets.moment();
      const { kind, subject, rule } = ask;
      const { granted, bucket } = buckets.tryTake({ kind, subject, rule, want: 1 }, moment);
      if (granted === 0) return toDecision(false, { bucket, rule, wallUs: moment.wallUs });
      return new Promise((decide) => {
        waiting.push({ ask, decide });
        if (!isAsking) void serve();
      });
    },
    async peek(ask) {
      const answers = await question([{ ...ask, want: 0 }]);
      const bucket = answers?.[0]?.bucket;
      if (bucket === undefined) return local.peek(ask);
      const state = toDecision(false, { bucket, rule: ask.rule, wallUs: bucket.atUs });
      return state.waitUs > 0 ? state : { ...state, isAllowed: true };
    },
    peekHere: local.peek,
    learn: local.learn,
  };
}

/** Those who ask for the same bucket under the same rule, together. */
function linesOf(waiters: readonly Waiter[]): readonly Line[] {
  const lines: Line[] = [];
  const lastOf = new Map<string, Line>();
  for (const waiter of waiters) {
    const { ask } = waiter;
    const name = `${ask.kind}:${ask.subject}`;
    const last = lastOf.get(name);
    if (last?.ask.rule === ask.rule) {
      last.waiters.push(waiter);
      continue;
    }
    const line = { ask, waiters: [waiter] };
    lastOf.set(name, line);
    lines.push(line);
  }
  return lines;
}

function decideAll({ ask, waiters }: Line, answer: ScriptAnswer | undefined, local: LocalLimiter): void {
  for (const [turn, { decide }] of waiters.entries())
    decide(answer ? decisionAt(turn, answer, ask.rule) : local.take(ask));
}

/** What the request at this turn of a line is told: as if the line had come one after the other. */
function decisionAt(turn: number, { granted, bucket }: ScriptAnswer, rule: LimitRule): Decision {
  const after = Math.max(0, granted - 1 - turn);
  const { level, used } = bucket;
  const then = {
    ...bucket,
    level: level - after * COST,
    used: rule.dailyQuota === null ? used : used - after,
  };
  return toDecision(turn < granted, { bucket: then, rule, wallUs: bucket.atUs });
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
