import { expect } from "chai";
import { describe, it } from "mocha";
import { createManualClock } from "../../testkit/clock.ts";
import { until } from "../../testkit/until.ts";
import { type Bucket, takeFromBucket } from "./bucket.ts";
import type { LimitDecision, LimitRequest } from "./limiter.ts";
import { LocalBuckets } from "./local-buckets.ts";
import { createRedisLimiter } from "./redis-limiter.ts";
import { createRule } from "./rule.ts";

const five = createRule({ ratePerSecond: 1, burst: 5, dailyQuota: null });

/** A fake Redis whose responses wait until the test releases them. Its clock is ten minutes ahead. */
function createFakeRedis(clock: { nowMs(): number }) {
  const stored = new Map<string, Bucket>();
  const batches: {
    readonly keys: readonly string[];
    readonly counts: readonly number[];
    respond(): void;
    fail(): void;
  }[] = [];
  const nowUs = () => (clock.nowMs() + 600_000) * 1000;
  const respondTo = (key: string, [drain, capacity, quota, count]: readonly number[]) => {
    const rule = {
      ...five,
      drain: drain as number,
      capacity: capacity as number,
      dailyQuota: quota === -1 ? null : (quota as number),
    };
    const clocks = { nowUs: nowUs(), wallUs: nowUs() };
    const { bucket, granted } = takeFromBucket(stored.get(key), clocks, { rule, count: count as number });
    stored.set(key, bucket);
    return [granted, bucket.level, bucket.atUs, bucket.day, bucket.used];
  };
  const client = {
    evalSha: (_sha: string, { keys, arguments: sent }: { keys: string[]; arguments: string[] }) =>
      new Promise((resolve, reject) => {
        const parts = keys.map((_, place) => sent.slice(place * 7, place * 7 + 7).map(Number));
        batches.push({
          keys,
          counts: parts.map((part) => part[3] as number),
          respond: () => resolve(keys.flatMap((key, place) => respondTo(key, parts[place] as number[]))),
          fail: () => reject(new Error("away")),
        });
      }),
  };
  return {
    batches,
    async run<T>(otherwise: T, command: (client: never) => Promise<T>): Promise<T> {
      return command(client as never).catch(() => otherwise);
    },
  };
}

function setUp() {
  const clock = createManualClock();
  const redis = createFakeRedis(clock);
  const results: boolean[] = [];
  const limiter = createRedisLimiter({
    redis: redis as never,
    buckets: new LocalBuckets(clock),
    onResult: (isShared) => results.push(isShared),
  });
  const request: LimitRequest = { kind: "key", subject: "a", rule: five };
  const next = async () => {
    const inFlight = redis.batches.length;
    await until(() => redis.batches.length > 0);
    expect(inFlight).to.be.at.most(1);
    return redis.batches.shift() as (typeof redis.batches)[number];
  };
  return { clock, redis, limiter, request, results, next };
}

describe("limits shared through Redis", () => {
  it("sends one batch for all requests that arrived meanwhile, and decides as if they had come one by one", async () => {
    const { limiter, request, next, redis } = setUp();
    const first = limiter.take(request);
    const rest = Array.from({ length: 6 }, () => limiter.take(request));
    const alone = await next();
    expect(alone).to.deep.include({ counts: [1], keys: ["chaintables:limit:key:a"] });
    alone.respond();
    expect((await first).remaining.burst).to.equal(4);
    const together = await next();
    expect(together.counts).to.deep.equal([6]);
    together.respond();
    const decisions = await Promise.all(rest);
    expect(decisions.map(({ isAllowed }) => isAllowed)).to.deep.equal([true, true, true, true, false, false]);
    expect(decisions.map(({ remaining }) => remaining.burst)).to.deep.equal([3, 2, 1, 0, 0, 0]);
    expect(decisions.map(({ waitUs }) => waitUs)).to.deep.equal([0, 0, 0, 0, 1_000_000, 1_000_000]);
    expect(redis.batches).to.have.length(0);
  });

  it("refuses without a round trip until the wait that Redis returned is over", async () => {
    const { limiter, request, next, redis, clock } = setUp();
    for (let i = 0; i < 5; i += 1) {
      const pending = limiter.take(request);
      (await next()).respond();
      expect((await pending).isAllowed).to.equal(true);
    }
    const refused = limiter.take(request);
    expect(refused).not.to.be.instanceOf(Promise);
    expect(refused).to.include({ isAllowed: false, waitUs: 1_000_000 });
    clock.advance(999);
    expect(limiter.take(request)).to.include({ waitUs: 1_000 });
    clock.advance(1);
    const pending = limiter.take(request);
    expect(pending).to.be.instanceOf(Promise);
    (await next()).respond();
    expect((await pending).isAllowed).to.equal(true);
    expect(redis.batches).to.have.length(0);
  });

  it("requests each rule separately if a rule has changed meanwhile", async () => {
    const { limiter, request, next } = setUp();
    const wide = createRule({ ratePerSecond: 1, burst: 8, dailyQuota: null });
    const pending: (LimitDecision | Promise<LimitDecision>)[] = [limiter.take(request)];
    for (const rule of [five, five, wide, wide, five]) pending.push(limiter.take({ ...request, rule }));
    for (const counts of [[1], [2, 2, 1]]) {
      const batch = await next();
      expect(batch.counts).to.deep.equal(counts);
      batch.respond();
    }
    const decisions = await Promise.all(pending);
    expect(decisions.map(({ remaining }) => remaining.burst)).to.deep.equal([4, 3, 2, 4, 3, 0]);
  });

  it("sends different subjects and kinds in one batch, each with its own decision", async () => {
    const { limiter, request, next, redis } = setUp();
    const pending = ["a", "b", "c", "b", "c", "b"].map((subject) => limiter.take({ ...request, subject }));
    pending.push(limiter.take({ ...request, kind: "refusal", subject: "b" }));
    (await next()).respond();
    const batch = await next();
    expect(batch.keys).to.deep.equal(
      ["key:b", "key:c", "refusal:b"].map((name) => `chaintables:limit:${name}`),
    );
    expect(batch.counts).to.deep.equal([3, 2, 1]);
    batch.respond();
    const decisions = await Promise.all(pending);
    expect(decisions.map(({ remaining }) => remaining.burst)).to.deep.equal([4, 4, 4, 3, 3, 2, 4]);
    expect(redis.batches).to.have.length(0);
  });

  it("handles a request that comes at the moment of a response, and more requests than fit into one batch", async () => {
    const { limiter, request, next } = setUp();
    const again = (async () => {
      await limiter.take(request);
      return limiter.take(request);
    })();
    (await next()).respond();
    (await next()).respond();
    expect((await again).remaining.burst).to.equal(3);
    const many = Array.from({ length: 2_500 }, (_, i) => limiter.take({ ...request, subject: `s${i}` }));
    for (const size of [1, 1_000, 1_000, 499]) {
      const batch = await next();
      expect(batch.keys).to.have.length(size);
      batch.respond();
    }
    expect((await Promise.all(many)).every(({ isAllowed }) => isAllowed)).to.equal(true);
  });

  it("continues from the last response while Redis is unreachable, without an error", async () => {
    const { limiter, request, next, results } = setUp();
    for (let i = 0; i < 3; i += 1) {
      const pending = limiter.take(request);
      (await next()).respond();
      await pending;
    }
    const fallen = [limiter.take(request), limiter.take(request), limiter.take(request)];
    (await next()).fail();
    (await next()).fail();
    const decisions = await Promise.all(fallen);
    expect(decisions.map(({ isAllowed }) => isAllowed)).to.deep.equal([true, true, false]);
    expect(results).to.deep.equal([true, true, true, false, false]);
  });

  it("counts a day by the clock of Redis, not by its own", async () => {
    const { limiter, clock, next } = setUp();
    const daily = createRule({ ratePerSecond: 1000, burst: 5, dailyQuota: 1 });
    const request: LimitRequest = { kind: "key", subject: "a", rule: daily };
    const untilMidnightMs = 24 * 3_600_000 - 600_000;
    const pending = limiter.take(request);
    (await next()).respond();
    expect((await pending).remaining.daily).to.equal(0);
    expect(limiter.take(request)).to.include({ isAllowed: false, waitUs: untilMidnightMs * 1000 });
    clock.advance(untilMidnightMs);
    const after = limiter.take(request);
    (await next()).respond();
    expect((await after).isAllowed).to.equal(true);
  });

  it("peeks without taking", async () => {
    const { limiter, request, next } = setUp();
    for (let i = 0; i < 2; i += 1) {
      const pending = limiter.peek(request);
      (await next()).respond();
      expect(await pending).to.deep.include({ isAllowed: true });
      expect((await pending).remaining.burst).to.equal(5);
    }
  });
});
