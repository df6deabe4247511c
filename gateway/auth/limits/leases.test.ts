import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { createManualClock } from "../../testkit/clock.ts";
import { createBatchingLimiter } from "./batching-limiter.ts";
import { BucketRoom } from "./bucket-room.ts";
import { LEASE_MS } from "./leases.ts";
import { LocalBuckets } from "./local-buckets.ts";
import { createRule, type LimitRule } from "./rule.ts";
import type { SharedBuckets } from "./shared-buckets.ts";

/** So slow that nothing comes back while a test runs. */
const slow = (burst: number, dailyQuota: number | null = null) =>
  createRule({ ratePerSecond: 0.001, burst, dailyQuota });

/** Two workers, and the room that keeps the buckets for both; its answers take a turn of the event loop. */
function setUp() {
  const clock = createManualClock();
  const buckets = new LocalBuckets(clock);
  const room = new BucketRoom(buckets);
  let questions = 0;
  const keeper: SharedBuckets = {
    async take(asked) {
      questions += 1;
      const answers = room.answer(asked);
      await new Promise((resolve) => setImmediate(resolve));
      return answers;
    },
    giveBack: (unused) => room.giveBack(unused),
    learn: (of) => room.learn(of),
  };
  const workers = [0, 1].map(() => createBatchingLimiter({ keeper, buckets: new LocalBuckets(clock) }));
  return {
    questions: () => questions,
    take: async (worker: number, rule: LimitRule) =>
      (workers[worker % 2] as (typeof workers)[number]).take({ kind: "key", subject: "a", rule }),
    learn: (used: number) =>
      workers[0]?.raiseUsage({ subject: "a", day: Math.floor(clock.nowMs() / 86_400_000), used }),
    /** What the room says is left of the burst. */
    left: (rule: LimitRule) => {
      const { bucket } = buckets.tryTake({ kind: "key", subject: "a", rule, want: 0 }, buckets.readClocks());
      return rule.burst - bucket.level / 1e9;
    },
    /** Until every lease is over and its rest given back. */
    async rest() {
      // One by one, so that a loop that was held up does not pass over the sweeps between.
      for (let wait = 0; wait < 4; wait += 1)
        await new Promise((resolve) => setTimeout(resolve, LEASE_MS + 1));
    },
  };
}

describe("limits that workers share: leases", () => {
  it("takes nothing ahead of a bucket that could be full soon: 5 pass, the 6th does not", async () => {
    const { take } = setUp();
    const rule = slow(5);
    const told = await Promise.all(Array.from({ length: 12 }, (_, turn) => take(turn, rule)));
    expect(told.filter(({ isAllowed }) => isAllowed)).to.have.length(5);
  });

  it("asks seldom for a large bucket, and counts each request that passed, no other", async () => {
    const { take, left, questions, rest } = setUp();
    const rule = slow(100_000);
    const sizes = fc.sample(fc.integer({ min: 1, max: 60 }), { numRuns: 400, seed: 7 });
    let asked = 0;
    for (const [worker, size] of sizes.entries()) {
      const told = await Promise.all(Array.from({ length: size }, () => take(worker, rule)));
      expect(told.every(({ isAllowed }) => isAllowed)).to.equal(true);
      asked += size;
    }
    expect(questions()).to.be.below(asked / 10);
    await rest();
    expect(left(rule)).to.equal(100_000 - asked);
  });

  it("tells each what is left as if all had come one after the other", async () => {
    const { take } = setUp();
    const rule = slow(50_000);
    const told: number[] = [];
    for (let turn = 0; turn < 300; turn += 1) told.push((await take(0, rule)).remaining.burst);
    expect(told).to.deep.equal(told.map((_, turn) => 49_999 - turn));
  });

  it("lets a large bucket be emptied to the last request by both", async () => {
    const { take, rest } = setUp();
    const rule = slow(11_000);
    for (let round = 0; round < 110; round += 1) {
      const told = await Promise.all(Array.from({ length: 100 }, (_, turn) => take(turn, rule)));
      expect(
        told.every(({ isAllowed }) => isAllowed),
        `round ${round}`,
      ).to.equal(true);
      // Twice: no lease is open when the last requests are asked for.
      if (round === 1 || round === 100) await rest();
    }
    for (const worker of [0, 1]) expect((await take(worker, rule)).isAllowed).to.equal(false);
  });

  it("keeps a day's quota to the request, however much is taken ahead", async () => {
    const { take, rest } = setUp();
    const rule = slow(50_000, 10_500);
    let passed = 0;
    for (let round = 0; round < 120; round += 1) {
      const told = await Promise.all(Array.from({ length: 100 }, (_, turn) => take(turn, rule)));
      passed += told.filter(({ isAllowed }) => isAllowed).length;
      if (round === 50) await rest();
    }
    expect(passed).to.equal(10_500);
  });

  it("counts what one of them learns from the store against all", async () => {
    const { take, learn } = setUp();
    const rule = slow(100, 50);
    learn(47);
    const told = await Promise.all([1, 1, 1, 1, 0].map((worker) => take(worker, rule)));
    expect(told.filter(({ isAllowed }) => isAllowed)).to.have.length(3);
  });

  it("does not use what was taken ahead under another rule", async () => {
    const { take } = setUp();
    for (let turn = 0; turn < 50; turn += 1) await take(0, slow(100_000));
    const tight = slow(60);
    const told = await Promise.all(Array.from({ length: 30 }, () => take(0, tight)));
    expect(told.filter(({ isAllowed }) => isAllowed).length).to.equal(10);
  });
});
