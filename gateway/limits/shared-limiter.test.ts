import { expect } from "chai";
import { describe, it } from "mocha";
import { createManualClock } from "../testkit/clock.ts";
import { until } from "../testkit/until.ts";
import type { Bucket } from "./bucket.ts";
import { takeFrom } from "./bucket.ts";
import type { Ask, Decision } from "./limiter.ts";
import { LocalBuckets } from "./local-buckets.ts";
import { createRule } from "./rule.ts";
import { createSharedLimiter } from "./shared-limiter.ts";

const five = createRule({ ratePerSecond: 1, burst: 5, dailyQuota: null });

/** A Redis of our making, whose answers wait until they are let out. Its clock is ten minutes ahead. */
function createFakeRedis(clock: { nowMs(): number }) {
  const stored = new Map<string, Bucket>();
  const questions: { readonly key: string; readonly want: number; answer(): void; fail(): void }[] = [];
  const nowUs = () => (clock.nowMs() + 600_000) * 1000;
  const client = {
    evalSha: (_sha: string, { keys, arguments: sent }: { keys: string[]; arguments: string[] }) =>
      new Promise((resolve, reject) => {
        const [key = ""] = keys;
        const [drain, capacity, quota, want] = sent.map(Number) as [number, number, number, number];
        questions.push({
          key,
          want,
          answer() {
            const rule = { ...five, drain, capacity, dailyQuota: quota < 0 ? null : quota };
            const taken = takeFrom(stored.get(key), { nowUs: nowUs(), wallUs: nowUs() }, { rule, want });
            stored.set(key, taken.bucket);
            const { level, atUs, day, used } = taken.bucket;
            resolve([taken.granted, level, atUs, day, used]);
          },
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
  const limiter = createSharedLimiter({
    redis: redis as never,
    buckets: new LocalBuckets(clock),
    onAnswer: (isShared) => heard.push(isShared),
  });
  const ask: Ask = { kind: "key", subject: "a", rule: five };
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
    expect(alone).to.include({ want: 1, key: "chaintables:limit:key:a" });
    alone.answer();
    expect((await first).left.burst).to.equal(4);
    const together = await next();
    expect(together.want).to.equal(6);
    together.answer();
    const decisions = await Promise.all(rest);
    expect(decisions.map(({ isAllowed }) => isAllowed)).to.deep.equal([true, true, true, true, false, false]);
    expect(decisions.map(({ left }) => left.burst)).to.deep.equal([3, 2, 1, 0, 0, 0]);
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
    const pending: (Decision | Promise<Decision>)[] = [limiter.take(ask)];
    for (const rule of [five, five, wide, wide, five]) pending.push(limiter.take({ ...ask, rule }));
    const wants: number[] = [];
    for (let i = 0; i < 4; i += 1) {
      const question = await next();
      wants.push(question.want);
      question.answer();
    }
    expect(wants).to.deep.equal([1, 2, 2, 1]);
    const decisions = await Promise.all(pending);
    expect(decisions.map(({ left }) => left.burst)).to.deep.equal([4, 3, 2, 4, 3, 0]);
  });

  it("asks about different subjects and kinds at the same time", async () => {
    const { limiter, ask, redis } = setUp();
    const pending = [
      limiter.take(ask),
      limiter.take({ ...ask, subject: "b" }),
      limiter.take({ ...ask, kind: "refusal" }),
    ];
    await until(() => redis.questions.length === 3);
    for (const question of redis.questions.reverse()) question.answer();
    for (const { left } of await Promise.all(pending)) expect(left.burst).to.equal(4);
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
    const ask: Ask = { kind: "key", subject: "a", rule: daily };
    const untilMidnightMs = 24 * 3_600_000 - 600_000;
    const pending = limiter.take(ask);
    (await next()).answer();
    expect((await pending).left.daily).to.equal(0);
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
      expect((await pending).left.burst).to.equal(5);
    }
    expect(limiter.peekHere(ask).left.burst).to.equal(5);
  });
});
