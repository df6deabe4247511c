import { expect } from "chai";
import { describe, it } from "mocha";
import { createManualClock } from "../../testkit/clock.ts";
import { until } from "../../testkit/until.ts";
import { type Bucket, takeFrom } from "./bucket.ts";
import type { LimitDecision, LimitRequest } from "./limiter.ts";
import { LocalBuckets } from "./local-buckets.ts";
import { createRedisLimiter } from "./redis-limiter.ts";
import { createRule } from "./rule.ts";

const five = createRule({ ratePerSecond: 1, burst: 5, dailyQuota: null });

/** A Redis of our making, whose answers wait until they are let out. Its clock is ten minutes ahead. */
function createFakeRedis(clock: { nowMs(): number }) {
  const stored = new Map<string, Bucket>();
  const questions: {
    readonly keys: readonly string[];
    readonly wants: readonly number[];
    answer(): void;
    fail(): void;
  }[] = [];
  const nowUs = () => (clock.nowMs() + 600_000) * 1000;
  const answerOne = (key: string, [drain, capacity, quota, want]: readonly number[]) => {
    const rule = {
      ...five,
      drain: drain as number,
      capacity: capacity as number,
      dailyQuota: quota === -1 ? null : (quota as number),
    };
    const moment = { nowUs: nowUs(), wallUs: nowUs() };
    const { bucket, granted } = takeFrom(stored.get(key), moment, { rule, want: want as number });
    stored.set(key, bucket);
    return [granted, bucket.level, bucket.atUs, bucket.day, bucket.used];
  };
  const client = {
    evalSha: (_sha: string, { keys, arguments: sent }: { keys: string[]; arguments: string[] }) =>
      new Promise((resolve, reject) => {
        const parts = keys.map((_, place) => sent.slice(place * 7, place * 7 + 7).map(Number));
        questions.push({
          keys,
          wants: parts.map((part) => part[3] as number),
          answer: () => resolve(keys.flatMap((key, place) => answerOne(key, parts[place] as number[]))),
          fail: () => reject(new Error("away")),
        });
      }),
  };
  return {
    questions,
    async ask<T>(otherwise: T, command: (client: never) => Promise<T>): Promise<T> {
      return command(client as never).catch(() => otherwise);
    },
  };
}

function setUp() {
  const clock = createManualClock();
  const redis = createFakeRedis(clock);
  const heard: boolean[] = [];
  const limiter = createRedisLimiter({
    redis: redis as never,
    buckets: new LocalBuckets(clock),
    onResult: (isShared) => heard.push(isShared),
  });
  const ask: LimitRequest = { kind: "key", subject: "a", rule: five };
  const next = async () => {
    const asked = redis.questions.length;
    await until(() => redis.questions.length > 0);
    expect(asked).to.be.at.most(1);
    return redis.questions.shift() as (typeof redis.questions)[number];
  };
  return { clock, redis, limiter, ask, heard, next };
}

describe("shared limiter", () => {
  it("asks once for all that came while it waited, and tells each as if they had come one by one", async () => {
    const { limiter, ask, next, redis } = setUp();
    const first = limiter.take(ask);
    const rest = Array.from({ length: 6 }, () => limiter.take(ask));
    const alone = await next();
    expect(alone).to.deep.include({ wants: [1], keys: ["chaintables:limit:key:a"] });
    alone.answer();
    expect((await first).remaining.burst).to.equal(4);
    const together = await next();
    expect(together.wants).to.deep.equal([6]);
    together.answer();
    const decisions = await Promise.all(rest);
    expect(decisions.map(({ isAllowed }) => isAllowed)).to.deep.equal([true, true, true, true, false, false]);
    expect(decisions.map(({ remaining }) => remaining.burst)).to.deep.equal([3, 2, 1, 0, 0, 0]);
    expect(decisions.map(({ waitUs }) => waitUs)).to.deep.equal([0, 0, 0, 0, 1_000_000, 1_000_000]);
    expect(redis.questions).to.have.length(0);
  });

  it("refuses without asking until the wait that Redis told is over, and asks then", async () => {
    const { limiter, ask, next, redis, clock } = setUp();
    for (let i = 0; i < 5; i += 1) {
      const pending = limiter.take(ask);
      (await next()).answer();
      expect((await pending).isAllowed).to.equal(true);
    }
    const refused = limiter.take(ask);
    expect(refused).not.to.be.instanceOf(Promise);
    expect(refused).to.include({ isAllowed: false, waitUs: 1_000_000 });
    clock.advance(999);
    expect(limiter.take(ask)).to.include({ waitUs: 1_000 });
    clock.advance(1);
    const pending = limiter.take(ask);
    expect(pending).to.be.instanceOf(Promise);
    (await next()).answer();
    expect((await pending).isAllowed).to.equal(true);
    expect(redis.questions).to.have.length(0);
  });

  it("asks for each rule by itself where one has changed meanwhile", async () => {
    const { limiter, ask, next } = setUp();
    const wide = createRule({ ratePerSecond: 1, burst: 8, dailyQuota: null });
    const pending: (LimitDecision | Promise<LimitDecision>)[] = [limiter.take(ask)];
    for (const rule of [five, five, wide, wide, five]) pending.push(limiter.take({ ...ask, rule }));
    for (const wants of [[1], [2, 2, 1]]) {
      const question = await next();
      expect(question.wants).to.deep.equal(wants);
      question.answer();
    }
    const decisions = await Promise.all(pending);
    expect(decisions.map(({ remaining }) => remaining.burst)).to.deep.equal([4, 3, 2, 4, 3, 0]);
  });

  it("asks about different subjects and kinds together, each with its own answer", async () => {
    const { limiter, ask, next, redis } = setUp();
    const pending = ["a", "b", "c", "b", "c", "b"].map((subject) => limiter.take({ ...ask, subject }));
    pending.push(limiter.take({ ...ask, kind: "refusal", subject: "b" }));
    (await next()).answer();
    const question = await next();
    expect(question.keys).to.deep.equal(
      ["key:b", "key:c", "refusal:b"].map((name) => `chaintables:limit:${name}`),
    );
    expect(question.wants).to.deep.equal([3, 2, 1]);
    question.answer();
    const decisions = await Promise.all(pending);
    expect(decisions.map(({ remaining }) => remaining.burst)).to.deep.equal([4, 4, 4, 3, 3, 2, 4]);
    expect(redis.questions).to.have.length(0);
  });

  it("serves who asks again at the moment of an answer, and more than fit into one question", async () => {
    const { limiter, ask, next } = setUp();
    const again = (async () => {
      await limiter.take(ask);
      return limiter.take(ask);
    })();
    (await next()).answer();
    (await next()).answer();
    expect((await again).remaining.burst).to.equal(3);
    const many = Array.from({ length: 2_500 }, (_, i) => limiter.take({ ...ask, subject: `s${i}` }));
    for (const size of [1, 1_000, 1_000, 499]) {
      const question = await next();
      expect(question.keys).to.have.length(size);
      question.answer();
    }
    expect((await Promise.all(many)).every(({ isAllowed }) => isAllowed)).to.equal(true);
  });

  it("goes on here from what Redis said last while it is away, without an error", async () => {
    const { limiter, ask, next, heard } = setUp();
    for (let i = 0; i < 3; i += 1) {
      const pending = limiter.take(ask);
      (await next()).answer();
      await pending;
    }
    const fallen = [limiter.take(ask), limiter.take(ask), limiter.take(ask)];
    (await next()).fail();
    (await next()).fail();
    const decisions = await Promise.all(fallen);
    expect(decisions.map(({ isAllowed }) => isAllowed)).to.deep.equal([true, true, false]);
    expect(heard).to.deep.equal([true, true, true, false, false]);
  });

  it("counts a day by the clock of Redis, whatever its own says", async () => {
    const { limiter, clock, next } = setUp();
    const daily = createRule({ ratePerSecond: 1000, burst: 5, dailyQuota: 1 });
    const ask: LimitRequest = { kind: "key", subject: "a", rule: daily };
    const untilMidnightMs = 24 * 3_600_000 - 600_000;
    const pending = limiter.take(ask);
    (await next()).answer();
    expect((await pending).remaining.daily).to.equal(0);
    expect(limiter.take(ask)).to.include({ isAllowed: false, waitUs: untilMidnightMs * 1000 });
    clock.advance(untilMidnightMs);
    const after = limiter.take(ask);
    (await next()).answer();
    expect((await after).isAllowed).to.equal(true);
  });

  it("peeks without taking", async () => {
    const { limiter, ask, next } = setUp();
    for (let i = 0; i < 2; i += 1) {
      const pending = limiter.peek(ask);
      (await next()).answer();
      expect(await pending).to.deep.include({ isAllowed: true });
      expect((await pending).remaining.burst).to.equal(5);
    }
  });
});
